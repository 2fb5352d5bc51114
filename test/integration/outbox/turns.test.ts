import { OutboxDispatcher } from '../../../src/outbox/dispatcher';
import { type Deliveries, enqueue, type OutboxKind } from '../../../src/outbox/outbox';
import { newId } from '../../../src/platform/ids';
import { createLogger } from '../../../src/platform/logging';
import { buildAccount, buildAsset, buildClient, buildTransferRequest, buildWallet, fundAccount } from '../../factories';
import { createFixture, ether, ethereum, fund, type Fixture } from '../ledger/fixture';

/** Clients take turns with the starts of their transfers. */

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture({ poolSize: 6 });
  await fund(fixture, 'ETH', 10n * ether);
});
afterAll(() => fixture.close());
beforeEach(() => fixture.database.query('truncate workflow_outbox'));

const turns = () =>
  fixture.database.query<{ client_id: string; turn: number }[]>(
    'select client_id, turn::int from workflow_outbox order by outbox_id',
  );

test('a transfer that is accepted has the turn after the last one of its client, and the first one of a client has that which is next', async () => {
  const { database, ledger, account, client } = fixture;
  const other = await buildClient(database);
  const theirs = await buildAccount(database, await buildWallet(database, other), ethereum);
  await buildAsset(database, theirs, ethereum, 'ETH');
  await fundAccount(database, theirs, ethereum, 'ETH', ether);
  const transfer = (of: typeof account) =>
    ledger.lockTransfer(buildTransferRequest(of, ethereum, { tokenSymbol: 'ETH', amount: '0.01' }));
  for (let count = 0; count < 3; count += 1) await transfer(account);
  await database.query('delete from workflow_outbox where turn = 0');
  await transfer(theirs);
  await transfer(theirs);
  expect(await turns()).toEqual([
    { client_id: client.clientId, turn: 1 },
    { client_id: client.clientId, turn: 2 },
    { client_id: other.clientId, turn: 1 },
    { client_id: other.clientId, turn: 2 },
  ]);
});

test('beside 10,000 that one client has waiting, those of another are started as if each had one', async () => {
  const { database, client } = fixture;
  const other = await buildClient(database);
  await database.query(
    `insert into workflow_outbox (kind, subject_id, client_id, chain, turn)
     select 'start_transfer', gen_random_uuid(), $1, 'ethereum', n from generate_series(0, 9999) n`,
    [client.clientId],
  );
  await database.query('analyze workflow_outbox');
  const theirs = Array.from({ length: 20 }, newId);
  for (const subjectId of theirs)
    await enqueue(database.manager, { kind: 'start_transfer', subjectId, clientId: other.clientId, chain: ethereum.name });
  await database.query('update workflow_outbox set deliver_after = clock_timestamp()');
  const started: string[] = [];
  const start: Deliveries[OutboxKind] = ({ subjectId }) => {
    if (started.length === 100) return Promise.resolve('later');
    started.push(subjectId);
    return Promise.resolve('delivered');
  };
  const deliveries = { start_transfer: start } as Deliveries;
  await new OutboxDispatcher(database, deliveries, createLogger('test', 'silent')).dispatch();
  expect(started).toHaveLength(100);
  expect(started.filter((subjectId) => theirs.includes(subjectId))).toEqual(theirs);
  // one of each by turns
  expect(theirs.map((subjectId) => started.indexOf(subjectId))).toEqual(theirs.map((_, index) => 2 * index + 1));
  const [next] = (await turns()).slice(-1);
  expect(next?.turn).toBe(9_999);
});

describe('what does not proceed', () => {
  const silent = createLogger('test', 'silent');
  const id = newId();
  /** A message of a client on a chain with this turn, due now. */
  const write = async (clientId: string, turn: number, { chain = 'ethereum', isPostponed = false, subjectId = newId() } = {}) => {
    await fixture.database.query(
      `insert into workflow_outbox (kind, subject_id, client_id, chain, turn, is_postponed, deliver_after)
       values ('start_transfer', $1, $2, $3, $4, $5, clock_timestamp())`,
      [subjectId, clientId, chain, turn, isPostponed],
    );
    return subjectId;
  };
  const dispatch = (start: Deliveries[OutboxKind]) =>
    new OutboxDispatcher(fixture.database, { start_transfer: start } as Deliveries, silent).dispatch();
  const turnOf = async (subjectId: string) => {
    const [row] = await fixture.database.query<{ turn: number; is_postponed: boolean }[]>(
      'select turn::int, is_postponed from workflow_outbox where subject_id = $1',
      [subjectId],
    );
    return row;
  };
  const firstOf = async (clientId: string) => {
    const subjectId = newId();
    await enqueue(fixture.database.manager, { kind: 'start_transfer', subjectId, clientId, chain: 'ethereum' });
    return (await turnOf(subjectId))?.turn;
  };

  test('messages of other chains, and those that are postponed, have no part in the turn of a new one', async () => {
    const { database, client } = fixture;
    const [stuck, other] = [await buildClient(database), await buildClient(database)];
    await write(stuck.clientId, 3, { isPostponed: true });
    await write(stuck.clientId, 5, { chain: 'polygon' });
    await write(client.clientId, 1_000);
    await write(client.clientId, 1_001);
    expect(await firstOf(other.clientId)).toBe(1_000);
    expect(await firstOf(stuck.clientId)).toBe(1_000);
    expect(await firstOf(client.clientId)).toBe(1_002);
  });

  test('one that always fails goes along with the others', async () => {
    const { database, client } = fixture;
    const [stuck, other] = [await buildClient(database), await buildClient(database)];
    await write(stuck.clientId, 3, { subjectId: id });
    await write(client.clientId, 1_000);
    await dispatch(({ subjectId }) => (subjectId === id ? Promise.reject(new Error('no')) : Promise.resolve('later')));
    expect(await turnOf(id)).toEqual({ turn: 1_000, is_postponed: false });
    expect(await firstOf(other.clientId)).toBe(1_000);
  });

  test('postponed ones come back after those that have waited for room, one by turns with them', async () => {
    const { database, client } = fixture;
    const back = await buildClient(database);
    const theirs: string[] = [];
    for (let turn = 0; turn < 3; turn += 1) theirs.push(await write(back.clientId, turn));
    await dispatch(() => Promise.resolve('postponed'));
    expect(await turnOf(theirs[0] as string)).toEqual({ turn: 0, is_postponed: true });
    const waiting: string[] = [];
    for (let turn = 1_000; turn < 1_004; turn += 1) waiting.push(await write(client.clientId, turn));
    await database.query('update workflow_outbox set deliver_after = clock_timestamp()');
    const started: string[] = [];
    const withRoom = (most: number) => (room: { subjectId: string }) => {
      if (started.length >= most) return Promise.resolve('later' as const);
      started.push(room.subjectId);
      return Promise.resolve('delivered' as const);
    };
    await dispatch(withRoom(1));
    expect(started).toEqual([waiting[0]]);
    const rows = await Promise.all(theirs.map(turnOf));
    expect(rows).toEqual([1_001, 1_002, 1_003].map((turn) => ({ turn, is_postponed: false })));
    await dispatch(withRoom(5));
    expect(started.filter((subjectId) => theirs.includes(subjectId))).toEqual(theirs.slice(0, 2));
    await dispatch(withRoom(100));
    expect(started).toHaveLength(7);
  });
});

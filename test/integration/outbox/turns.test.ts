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

import { OutboxDispatcher } from '../../../src/outbox/dispatcher';
import { findBacklogs } from '../../../src/outbox/outbox';
import { newId } from '../../../src/platform/ids';
import { createLogger } from '../../../src/platform/logging';
import { transferDeliveries } from '../../../src/transfers/start/deliveries';
import { StartLimits, type StartLimitSettings } from '../../../src/transfers/start/start-limits';
import { findAccountsBehindParked } from '../../../src/transfers/line';
import type { TransferWorkflows } from '../../../src/transfers/start/workflows';
import { buildAccount, buildAsset, buildTransferRequest, fundAccount } from '../../factories';
import { roomyStartLimits } from '../../ledger';
import { abandonable } from './abandonable';
import { begin, begun, ether, ethereum, include, sign, type Fixture } from '../ledger/fixture';
import { useFundedFixture } from './fixture';

/** Transfers of one sender are executed in the order of their nonces. */

let fixture: Fixture;
const { row, locked } = useFundedFixture((it) => (fixture = it));

const countAttempts = async (): Promise<number> => {
  const [row] = await fixture.database.query<[{ count: number }]>('select count(*)::int as count from transfer_attempts');
  return row.count;
};
const small = () => locked({ amount: '1' });
const park = (txId: string) => fixture.ledger.parkTransfer({ txId, code: 'stuck', reason: 'fees are beyond the bound' });
const sent = async (txId: string, attempt = 1): Promise<void> => {
  await sign(fixture, txId, attempt, { maxFeePerGas: 2_000_000_000n + BigInt(attempt) * 500_000_000n });
  await fixture.ledger.markSubmitted({ txId, attempt });
};

describe('behind a transfer that waits for an operator', () => {
  test('100 transfers: none of them is signed, each may be cancelled, and all go on when it is retried', async () => {
    const parked = await small();
    await begun(fixture, { txId: parked });
    await park(parked);
    const behind: string[] = [];
    for (let count = 0; count < 100; count += 1) behind.push(await small());
    for (const txId of behind) {
      const reason = expect.stringContaining(parked);
      expect(await begin(fixture, { txId })).toEqual({ outcome: 'wait', reason, isBehind: true });
      expect(await fixture.ledger.readTurn({ txId })).toEqual({ outcome: 'behind' });
    }
    expect(await countAttempts()).toBe(1);
    const [cancelled, ...rest] = behind as [string, ...string[]];
    expect(await fixture.ledger.cancelTransfer({ txId: cancelled })).toEqual({ status: 'CANCELLED' });

    await fixture.ledger.beginSigning({ txId: parked, lastAttempt: 1, kind: 'resume' });
    for (const txId of rest) {
      expect(await fixture.ledger.readTurn({ txId })).toEqual({ outcome: 'free' });
      await begun(fixture, { txId });
    }
    expect(await countAttempts()).toBe(100);
  }, 60_000);

  test.each<[string, (txId: string) => Promise<unknown>]>([
    [
      'its cancellation has begun',
      (txId) => abandonable(fixture, txId).then(() => begun(fixture, { txId, attempt: 2, kind: 'cancellation' })),
    ],
    ['the chain has executed it', (txId) => include(fixture, txId, 1, { depth: 1 })],
    [
      'none of its attempts can be executed any more',
      () => fixture.database.query(`update transfer_attempts set impossible_proof = '{"used_by": "0x"}'`),
    ],
  ])('they go on once %s', async (_, resolve) => {
    const parked = await small();
    await sign(fixture, parked);
    await park(parked);
    const txId = await small();
    expect(await begin(fixture, { txId })).toMatchObject({ outcome: 'wait', isBehind: true });
    await resolve(parked);
    expect(await begin(fixture, { txId })).toMatchObject({ outcome: 'begun' });
  });

  test('where several endpoints are compared, the word of one of them does not let them go on', async () => {
    const parked = await small();
    await sign(fixture, parked);
    await park(parked);
    await fixture.database.query(`update chain_cursors set agreed_to = 0 where chain = 'ethereum'`);
    const txId = await small();
    const prove = (proof: string) => fixture.database.query('update transfer_attempts set impossible_proof = $1', [proof]);
    await prove('{"used_by": "0x"}');
    expect(await begin(fixture, { txId })).toMatchObject({ outcome: 'wait', isBehind: true });
    await prove('{"used_by": "0x", "agreed_by": 2}');
    expect(await begin(fixture, { txId })).toMatchObject({ outcome: 'begun' });
  });

  test('one that waits before it was signed keeps nobody waiting', async () => {
    await park(await small());
    expect(await begin(fixture, { txId: await small() })).toMatchObject({ outcome: 'begun' });
  });

  test('what is accepted meanwhile is not started, and then as far as there is room, in its order; others are not delayed', async () => {
    const { database, ledger, wallet } = fixture;
    const silent = createLogger('test', 'silent');
    const parked = await small();
    await begun(fixture, { txId: parked });
    await database.query('delete from workflow_outbox');
    await park(parked);
    const behind: string[] = [];
    for (let count = 0; count < 30; count += 1) behind.push(await small());
    const other = await buildAccount(database, wallet, ethereum);
    await buildAsset(database, other, ethereum, 'ETH');
    await fundAccount(database, other, ethereum, 'ETH', ether);
    const free = await ledger.lockTransfer(buildTransferRequest(other, ethereum, { tokenSymbol: 'ETH', amount: '0.1' }));

    const started: string[] = [];
    const start = ({ txId }: { txId: string }) => (started.push(txId), Promise.resolve('started' as const));
    /** By a process that has just begun. */
    const dispatch = async (maxInFlight: number): Promise<string[]> => {
      started.length = 0;
      await database.query('update workflow_outbox set deliver_after = clock_timestamp()');
      const starts = new StartLimits({ ...roomyStartLimits, maxInFlight }, () => Promise.resolve(new Map()));
      const workflows = { start } as unknown as TransferWorkflows;
      const toNobody = () => Promise.reject(new Error('there is no such message'));
      const deliveries = {
        ...transferDeliveries({ database, workflows, starts, log: silent }),
        start_key_generation: toNobody,
      };
      await new OutboxDispatcher(database, deliveries, silent).dispatch();
      return [...started];
    };
    expect(await dispatch(100)).toEqual([free.txId]);
    // they are asked about again later, and until then nobody waits for them
    expect(await findBacklogs(database.manager)).toEqual([]);
    const [postponed] = await database.query<{ count: number; latest: number }[]>(
      `select count(*)::int, max(extract(epoch from deliver_after - clock_timestamp()))::float as latest from workflow_outbox`,
    );
    expect(postponed).toEqual({ count: 30, latest: expect.any(Number) });
    expect(postponed?.latest).toBeLessThanOrEqual(20);
    // one client's must not keep the others out
    const hasRoom = (limits: Partial<StartLimitSettings>, clientId: string) =>
      new StartLimits({ ...roomyStartLimits, ...limits }, () => Promise.resolve(new Map())).assertBacklogHasRoom(
        database.manager,
        clientId,
      );
    await hasRoom({ maxPending: 1 }, newId());
    await hasRoom({ maxPendingPerClient: 31 }, fixture.client.clientId);
    const full = { code: 'unavailable' };
    await expect(hasRoom({ maxPendingPerClient: 30 }, fixture.client.clientId)).rejects.toMatchObject(full);
    const [cancelled, ...rest] = behind as [string, ...string[]];
    await ledger.cancelTransfer({ txId: cancelled });
    expect(await dispatch(100)).toEqual([cancelled]);

    await ledger.beginSigning({ txId: parked, lastAttempt: 1, kind: 'resume' });
    // of four places the parked one and that of the other account have two
    const first = await dispatch(4);
    expect(first).toHaveLength(2);
    expect(first.every((txId) => rest.slice(0, 10).includes(txId))).toBe(true);
    expect(await findBacklogs(database.manager)).toEqual([{ kind: 'start_transfer', chain: ethereum.name }]);
    expect([...first, ...(await dispatch(100))].sort()).toEqual([...rest].sort());
    expect(await findBacklogs(database.manager)).toEqual([]);
  });

  test('what is abandoned by time keeps nobody waiting', async () => {
    const { database, account } = fixture;
    const parked = await small();
    await begun(fixture, { txId: parked });
    await park(parked);
    const behind = [{ account_id: account.accountId, chain: ethereum.name }];
    expect(await findAccountsBehindParked(database.manager)).toEqual(behind);
    const become = (type: string) =>
      database.transaction(async (manager) => {
        await manager.query('set local session_replication_role = replica');
        await manager.query('update transactions set transaction_type = $2 where tx_id = $1', [parked, type]);
      });
    await become('GAS_TOPUP');
    expect(await findAccountsBehindParked(database.manager)).toEqual([]);
    await become('GAS_WITHDRAWAL');
    expect(await findAccountsBehindParked(database.manager)).toEqual(behind);
    await become('OUTBOUND');
  });

  test('a client that has nothing in flight waits for no other one: a quarter of the places is added for such clients', async () => {
    const { database, client } = fixture;
    for (let started = 0; started < 4; started += 1) await small();
    await database.query('delete from workflow_outbox');
    /** By a process that has just begun. */
    const takes = (clientId: string, maxInFlight: number) =>
      new StartLimits({ ...roomyStartLimits, maxInFlight }, () => Promise.resolve(new Map())).take(
        database.manager,
        ethereum.name,
        clientId,
      );
    expect(await takes(client.clientId, 5)).toBe('taken');
    expect(await takes(client.clientId, 4)).toBe('for_idle_clients');
    expect(await takes(newId(), 4)).toBe('taken');
    // the added place is taken
    expect(await takes(newId(), 3)).toBe('none');
  });

  test('they take no room of those that are in flight', async () => {
    const parked = await small();
    await begun(fixture, { txId: parked });
    await small();
    await fixture.database.query('delete from workflow_outbox');
    const takesRoom = async () =>
      (await new StartLimits({ ...roomyStartLimits, maxInFlight: 1 }, () => Promise.resolve(new Map())).take(
        fixture.database.manager,
        ethereum.name,
        fixture.client.clientId,
      )) === 'taken';
    expect(await takesRoom()).toBe(false);
    await park(parked);
    expect(await takesRoom()).toBe(true);
    // as settlements are, whose sender is no account of a client
    const change = (changes: string) =>
      fixture.database.transaction(async (manager) => {
        await manager.query('set local session_replication_role = replica');
        await manager.query(
          `update transactions t set ${changes} from transactions p where p.tx_id = $1 and t.status = 'PENDING'`,
          [parked],
        );
      });
    await change('account_id = null, is_held = false');
    expect(await takesRoom()).toBe(false);
    // has no place in the line, and has started
    await change(`account_id = p.account_id, is_held = true, transaction_type = 'X402_SIGN'`);
    expect(await takesRoom()).toBe(false);
    await change('transaction_type = p.transaction_type');
  });
});

describe('only the head of the line is replaced', () => {
  test('one behind is replaced once the one in front is executed', async () => {
    const [head, next] = [await small(), await small()];
    await sent(head);
    await sent(next);
    const replacement = { attempt: 2, fees: { maxFeePerGas: 3_000_000_000n } };
    expect(await begin(fixture, { txId: next, ...replacement })).toMatchObject({
      outcome: 'refused',
      isFollowed: true,
      reason: expect.stringContaining(head),
    });
    expect(await begin(fixture, { txId: head, ...replacement })).toMatchObject({ outcome: 'begun' });
    await include(fixture, head, 1, { depth: 1 });
    expect(await begin(fixture, { txId: next, ...replacement })).toMatchObject({ outcome: 'begun' });
    expect((await row(next)).status).toBe('SUBMITTED');
  });

  test('a cancellation is begun at once wherever it stands; another one at a higher fee waits for its place', async () => {
    const [head, next] = [await small(), await small()];
    await sent(head);
    await sent(next);
    await abandonable(fixture, next);
    const cancellation = (attempt: number) => ({
      txId: next,
      attempt,
      kind: 'cancellation' as const,
      fees: { gasLimit: 21_000n, maxFeePerGas: BigInt(attempt + 1) * 1_500_000_000n },
    });
    await begun(fixture, cancellation(2));
    await abandonable(fixture, next);
    expect(await begin(fixture, cancellation(3))).toMatchObject({ outcome: 'refused', isFollowed: true });
    await include(fixture, head, 1, { depth: 1 });
    expect(await begin(fixture, cancellation(3))).toMatchObject({ outcome: 'begun' });
  });
});

import type { DataSource } from 'typeorm';
import { getFamily } from '../../../src/chains/families';
import { Collector } from '../../../src/monitoring/collector';
import type { WorkflowSweep } from '../../../src/monitoring/workflow-sweep';
import { enqueue } from '../../../src/outbox/outbox';
import { createDatabase } from '../../../src/platform/database';
import { newId } from '../../../src/platform/ids';
import { metrics } from '../../../src/platform/metrics';
import { SettlerWatch } from '../../../src/settlers/watch';
import type { Logger } from '../../../src/platform/logging';
import { buildTransferRequest, fundAccount, ledgerAccountOf } from '../../factories';
import { createTestLedger } from '../../ledger';
import { createFixture, ethereum, ether, type Fixture, fund, include, registry, sign, usdc } from '../ledger/fixture';
import { buildSettler } from '../x402/settlement-fixture';

/** What is read from the database is what its rows say, with the rights of the worker. */

let fixture: Fixture;
let readings: DataSource;
let collector: Collector;
let warnings: unknown[];
const ignored = () => undefined;
/** As for requests: a busy machine is no database that does not answer. */
let statementTimeoutMs = 15_000;
beforeEach(async () => {
  fixture = await createFixture({ poolSize: 3 });
  const { gateway_worker: url } = await fixture.logins();
  readings = createDatabase({ url, poolSize: 1, applicationName: 'metrics', statementTimeoutMs });
  await readings.initialize();
  warnings = [];
  collector = new Collector({
    database: readings,
    registry,
    poolSize: 7,
    settlers: new SettlerWatch(getFamily, { error: ignored, warn: ignored, info: ignored }),
    workflows: { run: () => Promise.resolve() } as unknown as WorkflowSweep,
    log: { warn: (line: unknown) => void warnings.push(line) },
  });
  await fund(fixture, 'ETH', 10n * ether);
  await fund(fixture, 'USDC', 100n * usdc);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await readings.destroy();
  await fixture.close();
});

/** Value of a series, by the labels given; undefined: there is none. */
async function value(name: string, labels: Record<string, string> = {}): Promise<number | undefined> {
  const { values } = (await metrics.getSingleMetric(`gateway_${name}`)?.get()) ?? { values: [] };
  return values.find((series) =>
    Object.entries(labels).every(([label, wanted]) => String(series.labels[label as never]) === wanted),
  )?.value;
}

const accept = async (symbol: string, amount: string): Promise<string> => {
  const request = buildTransferRequest(fixture.account, ethereum, { tokenSymbol: symbol, amount });
  await fixture.ledger.lockTransfer(request);
  return request.txId;
};
/** What the gateway never does to a row. */
const change = (sql: string, id: string) =>
  fixture.database.transaction(async (manager) => {
    await manager.query('set local session_replication_role = replica');
    await manager.query(sql, [id]);
  });
/** As if it had been accepted, or its attempt sent, earlier. */
const acceptedAgo = (txId: string, seconds: number) =>
  change(`update transactions set created_at = clock_timestamp() - interval '${seconds} seconds' where tx_id = $1`, txId);
const sentAgo = (txId: string, seconds: number) =>
  change(`update transfer_attempts set broadcast_at = clock_timestamp() - interval '${seconds} seconds' where tx_id = $1`, txId);
const onEthereum = (labels: Record<string, string>) => ({ chain: 'ethereum', ...labels });
const outbound = (status: string) => onEthereum({ type: 'OUTBOUND', status });

test('nothing open: zero for every chain, asset and state, so that rules and panels have series', async () => {
  await collector.run();
  for (const { name: chain, native, tokens } of registry.all) {
    for (const status of ['PENDING', 'AWAITING_APPROVAL', 'SIGNING', 'SUBMITTED', 'NEEDS_ATTENTION'])
      for (const type of ['OUTBOUND', 'X402_SETTLE']) {
        expect(await value('transactions_open', { chain, type, status })).toBe(0);
        expect(await value('transactions_oldest_open_age_seconds', { chain, type, status })).toBe(0);
      }
    for (const { symbol: asset } of [native, ...tokens]) {
      expect(await value('locked_amount', { chain, asset })).toBe(0);
      expect(await value('locked_oldest_hold_age_seconds', { chain, asset })).toBe(0);
    }
    expect(await value('broadcasts_not_included', { chain })).toBe(0);
    expect(await value('chain_block_time_seconds', { chain })).toBe(registry.get(chain).blockTimeMs / 1_000);
  }
  expect(await value('transactions_parked')).toBeUndefined();
  expect(await value('key_pool_size')).toBe(7);
  expect(warnings).toEqual([]);
});

test('locked amounts are those of the ledger, with the age of the oldest hold', async () => {
  await acceptedAgo(await accept('USDC', '2.5'), 500);
  await accept('USDC', '1');
  await accept('ETH', '0.25');
  await collector.run();
  const locked = async (symbol: string) => (await ledgerAccountOf(fixture.database, fixture.account, ethereum, symbol)).locked;
  expect(await value('locked_amount', onEthereum({ asset: 'USDC' }))).toBe(3.5);
  expect(await value('locked_amount', onEthereum({ asset: 'USDC' }))).toBe(Number(await locked('USDC')) / 1e6);
  // the amount of one, and the fee bounds of all three
  expect(await value('locked_amount', onEthereum({ asset: 'ETH' }))).toBeCloseTo(Number(await locked('ETH')) / 1e18, 12);
  expect(await value('locked_amount', onEthereum({ asset: 'ETH' }))).toBeGreaterThan(0.25);
  expect(await value('locked_holds', onEthereum({ asset: 'USDC' }))).toBe(2);
  expect(await value('locked_holds', onEthereum({ asset: 'ETH' }))).toBe(3);
  for (const asset of ['USDC', 'ETH']) {
    const seconds = await value('locked_oldest_hold_age_seconds', onEthereum({ asset }));
    expect(seconds).toBeGreaterThanOrEqual(500);
    expect(seconds).toBeLessThan(560);
  }
  expect(await value('locked_amount', { chain: 'base', asset: 'USDC' })).toBe(0);
});

test('what has ended is no hold any more, and in no state', async () => {
  const txId = await accept('USDC', '2.5');
  await collector.run();
  expect(await value('transactions_open', outbound('PENDING'))).toBe(1);
  await fixture.ledger.cancelTransfer({ txId });
  await collector.run();
  expect(await value('transactions_open', outbound('PENDING'))).toBe(0);
  expect(await value('locked_amount', onEthereum({ asset: 'USDC' }))).toBe(0);
  expect(await value('locked_amount', onEthereum({ asset: 'ETH' }))).toBe(0);
});

test('what has waited for an approval, or before its signing, is not late by that', async () => {
  const [approved, signing] = [await accept('USDC', '1'), await accept('USDC', '1')];
  for (const txId of [approved, signing]) await acceptedAgo(txId, 7_200);
  await change('update transactions set approved_at = clock_timestamp(), approved_by = client_id where tx_id = $1', approved);
  await sign(fixture, signing);
  await collector.run();
  for (const status of ['PENDING', 'SIGNING'])
    expect(await value('transactions_oldest_open_age_seconds', outbound(status))).toBeLessThan(3_600);
});

test('states with their oldest age, and what is parked by its code', async () => {
  const [first, second, pending] = [await accept('USDC', '1'), await accept('USDC', '1'), await accept('USDC', '1')];
  await acceptedAgo(first, 900);
  await acceptedAgo(second, 300);
  await acceptedAgo(pending, 60);
  await fixture.ledger.parkTransfer({ txId: first, code: 'stuck', reason: 'it is not included' });
  await fixture.ledger.parkTransfer({ txId: second, code: 'signers_unavailable', reason: 'no two nodes' });
  await collector.run();
  expect(await value('transactions_open', outbound('NEEDS_ATTENTION'))).toBe(2);
  expect(await value('transactions_open', outbound('PENDING'))).toBe(1);
  expect(await value('transactions_oldest_open_age_seconds', outbound('NEEDS_ATTENTION'))).toBeGreaterThanOrEqual(900);
  expect(await value('transactions_oldest_open_age_seconds', outbound('PENDING'))).toBeLessThan(200);
  const parked = (failure_code: string) => value('transactions_parked', onEthereum({ type: 'OUTBOUND', failure_code }));
  expect([await parked('stuck'), await parked('signers_unavailable')]).toEqual([1, 1]);
  // since it was parked, not since it was accepted
  const parkedFor = (failure_code: string) =>
    value('transactions_parked_oldest_age_seconds', onEthereum({ type: 'OUTBOUND', failure_code }));
  expect(await parkedFor('stuck')).toBeLessThan(200);
  await change(
    `update transaction_events set at = at - interval '700 seconds' where tx_id = $1 and status = 'NEEDS_ATTENTION'`,
    first,
  );
  await collector.run();
  expect(await parkedFor('stuck')).toBeGreaterThanOrEqual(700);
  expect(await parkedFor('signers_unavailable')).toBeLessThan(200);
  await fixture.ledger.parkTransfer({ txId: second, code: 'stuck', reason: 'it is not included' });
  await collector.run();
  expect([await parked('stuck'), await parked('signers_unavailable')]).toEqual([2, undefined]);
});

test('approvals that are about to expire: within the hour, or in the last quarter of a shorter time', async () => {
  /** As if it waited since then, and until then, in seconds from now. */
  const waiting = async (since: number, until: number) => {
    const txId = await accept('USDC', '1');
    await fixture.database.transaction(async (manager) => {
      await manager.query(
        `update transactions set status = 'AWAITING_APPROVAL', version = version + 1,
                approval_expires_at = clock_timestamp() + make_interval(secs => $2) where tx_id = $1`,
        [txId, until],
      );
      await manager.query('set local session_replication_role = replica');
      await manager.query(
        `update transaction_events set at = clock_timestamp() - make_interval(secs => $2) where tx_id = $1 and status = 'AWAITING_APPROVAL'`,
        [txId, since],
      );
    });
  };
  const expiring = async () => {
    await collector.run();
    return value('approvals_expiring', { chain: 'ethereum' });
  };
  await waiting(3_600, 82_800);
  expect(await expiring()).toBe(0);
  await waiting(83_000, 3_400);
  expect(await expiring()).toBe(1);
  // of 20 minutes
  await waiting(600, 600);
  expect(await expiring()).toBe(1);
  await waiting(1_000, 200);
  expect(await expiring()).toBe(2);
  expect(await value('approvals_expiring', { chain: 'base' })).toBe(0);
});

test('changes of state are counted, with the code of what parks or ends a transfer', async () => {
  const changes = async () =>
    (await value('transaction_state_changes_total', { status: 'NEEDS_ATTENTION', failure_code: 'stuck' })) ?? 0;
  const before = await changes();
  await fixture.ledger.parkTransfer({ txId: await accept('USDC', '1'), code: 'stuck', reason: 'it is not included' });
  expect(await changes()).toBe(before + 1);
});

test('what is parked is logged, once for each code', async () => {
  const lines: object[] = [];
  const log = { error: ignored, warn: (line: object) => void lines.push(line) } as unknown as Logger;
  const ledger = createTestLedger({ database: fixture.database, registry, log });
  const txId = await accept('USDC', '1');
  const about = { tx_id: txId, chain: 'ethereum', type: 'OUTBOUND' };
  for (const [code, reason] of [
    ['stuck', 'first'],
    ['stuck', 'again'],
    ['signers_unavailable', 'no two nodes'],
  ] as const)
    await ledger.parkTransfer({ txId, code, reason });
  expect(lines).toEqual([
    { ...about, code: 'stuck', reason: 'first' },
    { ...about, code: 'signers_unavailable', reason: 'no two nodes' },
  ]);
});

test('a broadcast counts until a block holds it', async () => {
  const [txId, unsent] = [await accept('USDC', '1'), await accept('USDC', '1')];
  await sign(fixture, txId);
  await fixture.ledger.markSubmitted({ txId, attempt: 1 });
  await sentAgo(txId, 1_000);
  await sign(fixture, unsent);
  await collector.run();
  expect(await value('broadcasts_not_included', { chain: 'ethereum' })).toBe(1);
  expect(await value('broadcasts_not_included_oldest_age_seconds', { chain: 'ethereum' })).toBeGreaterThanOrEqual(1_000);
  expect(await value('broadcasts_not_included_oldest_age_seconds', { chain: 'base' })).toBe(0);
  await include(fixture, txId, 1, { depth: 1 });
  await collector.run();
  expect(await value('broadcasts_not_included', { chain: 'ethereum' })).toBe(0);
  expect(await value('broadcasts_not_included_oldest_age_seconds', { chain: 'ethereum' })).toBe(0);
});

test('how far the follower is; a chain that is not enabled any more is left out', async () => {
  await fixture.database.query(
    `update chain_cursors set next_block = 91, head_block = 100, updated_at = clock_timestamp() - interval '5 minutes' where chain = 'ethereum'`,
  );
  await fixture.database.query(
    `insert into chain_cursors (chain, caip2, next_block, head_block, fee_levels) values ('bsc', 'eip155:56', 1, 1000, '{}')`,
  );
  await collector.run();
  expect(await value('chain_head_block', { chain: 'ethereum' })).toBe(100);
  expect(await value('chain_follower_behind_blocks', { chain: 'ethereum' })).toBe(10);
  expect(await value('chain_follower_idle_seconds', { chain: 'ethereum' })).toBeGreaterThanOrEqual(300);
  expect(await value('chain_follower_behind_blocks', { chain: 'bsc' })).toBeUndefined();
});

test('messages that wait, by kind and chain, apart from those behind a parked transfer', async () => {
  await fixture.database.query('delete from workflow_outbox');
  const { clientId } = fixture.client;
  for (const chain of ['ethereum', 'ethereum', 'base'])
    await enqueue(fixture.database.manager, { kind: 'start_transfer', subjectId: newId(), clientId, chain });
  await fixture.database.query(
    `update workflow_outbox set created_at = clock_timestamp() - interval '1 hour' where chain = 'base'`,
  );
  await enqueue(fixture.database.manager, { kind: 'start_transfer', subjectId: newId(), clientId, chain: 'bsc' });
  await fixture.database.query(`update workflow_outbox set is_postponed = true where chain = 'bsc'`);
  await collector.run();
  const waiting = (name: string, chain: string, postponed = 'false') => value(name, { kind: 'start_transfer', chain, postponed });
  expect(await waiting('outbox_messages', 'ethereum')).toBe(2);
  expect(await waiting('outbox_messages', 'base')).toBe(1);
  expect(await waiting('outbox_oldest_age_seconds', 'base')).toBeGreaterThanOrEqual(3_600);
  expect(await waiting('outbox_oldest_age_seconds', 'ethereum')).toBeLessThan(60);
  expect([await waiting('outbox_messages', 'bsc'), await waiting('outbox_messages', 'bsc', 'true')]).toEqual([undefined, 1]);
  expect(await value('outbox_messages', { kind: 'transfer_ended', chain: 'none' })).toBe(0);
});

test('webhooks that wait, and keys of the pool', async () => {
  await fixture.database.transaction(async (manager) => {
    await manager.query('set local session_replication_role = replica');
    await manager.query(
      `insert into webhook_deliveries (webhook_id, event_id, subject_id, position, status, ended_at, next_attempt_at, undispatched_since)
       select md5('h')::uuid, md5('e' || n)::uuid, md5('e' || n)::uuid, n, case when n > 2 then 'delivered' else 'pending' end, case when n > 2 then now() end,
              case when n <= 2 then now() end, case when n = 1 then clock_timestamp() - interval '10 minutes' end from generate_series(1, 5) n`,
    );
    await manager.query(
      `insert into pooled_keys (key_id) select 'pool-' || md5(n::text)::uuid || '.1' from generate_series(1, 9) n`,
    );
  });
  await collector.run();
  expect(await value('webhook_deliveries_pending')).toBe(2);
  expect(await value('webhook_deliveries_undispatched')).toBe(1);
  expect(await value('webhook_undispatched_oldest_age_seconds')).toBeGreaterThanOrEqual(600);
  // counted up to the size of the pool
  expect(await value('key_pool_free')).toBe(7);
});

test('settlers, with what they may spend; one that is there no more has no values', async () => {
  const { account, settler } = await buildSettler(fixture.database, ethereum);
  const labels = onEthereum({ settler: settler.settlerId });
  await fundAccount(fixture.database, account, ethereum, 'ETH', 7n);
  await collector.run();
  expect([await value('settler_balance', labels), await value('settler_supply', labels)]).toEqual([7, 2]);
  await change('delete from settlers where settler_id = $1', settler.settlerId);
  await collector.run();
  expect(await value('settler_balance', labels)).toBeUndefined();
  expect(warnings).toEqual([]);
});

describe('a database that does not answer', () => {
  beforeAll(() => void (statementTimeoutMs = 1_500));
  const stale = (collection: string) => value('collection_stale', { collection });

  test('keeps no scrape waiting; what cannot be read is stale after a minute and keeps its values, the rest goes on', async () => {
    await accept('USDC', '2.5');
    await collector.run();
    expect([await stale('held'), await stale('outbox')]).toEqual([0, 0]);
    const failures = await value('collection_failures_total', { collection: 'held' });

    const holder = fixture.database.createQueryRunner();
    await holder.startTransaction();
    await holder.query('lock table transactions in access exclusive mode');
    const startedAt = performance.now();
    let isOver = false;
    const round = collector.run().finally(() => (isOver = true));
    expect(await metrics.metrics()).toContain('gateway_locked_amount{chain="ethereum",asset="USDC"} 2.5');
    expect(isOver).toBe(false);
    await round;
    // six collections read the table, a second and a half each
    expect(performance.now() - startedAt).toBeLessThan(30_000);
    expect(await value('collection_failures_total', { collection: 'held' })).toBe((failures ?? 0) + 1);
    expect(await stale('held')).toBe(0);
    expect(warnings).toHaveLength(6);

    const now = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(now + 61_000);
    await collector.run();
    expect([await stale('held'), await stale('settlers'), await stale('outbox')]).toEqual([1, 1, 0]);
    expect(await value('locked_amount', onEthereum({ asset: 'USDC' }))).toBe(2.5);
    // logged when it begins to fail, and not each time
    expect(warnings).toHaveLength(6);

    await holder.rollbackTransaction();
    await holder.release();
    await collector.run();
    expect([await stale('held'), await stale('open')]).toEqual([0, 0]);
  });
});

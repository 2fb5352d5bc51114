import type { DataSource, EntityManager } from 'typeorm';
import { storeForeignTransactions, takeBackForeignTransactions } from '../../../src/chains/foreign-transactions';
import { createFindOrigins, storeOrigins } from '../../../src/chains/origins';
import { storeOutputs, takeBackOutputs } from '../../../src/chains/outputs';
import { findDoubtedOrdinals, findReservations } from '../../../src/chains/reservations';
import { registry } from '../ledger/fixture';
import { localBitcoin } from '../../bitcoin';
import { confirmDeposits } from '../../../src/deposits/confirm';
import { orphanDeposits } from '../../../src/deposits/orphan';
import { endPendingDeposits, findPendingHashes, recordPendingDeposits } from '../../../src/deposits/pending';
import { depositAddresses, recordDeposits } from '../../../src/deposits/record';
import { findContradictedEnds, findExecutedAfterProof } from '../../../src/following/contradicted-ends';
import { findForeignSpends, storeForeignSpends, takeBackForeignSpends } from '../../../src/following/foreign-spends';
import { findAttemptsAmong } from '../../../src/following/found-attempts';
import { FundingMemory } from '../../../src/following/funding-memory';
import { FundingWatch } from '../../../src/following/funding-watch';
import * as inclusions from '../../../src/following/inclusions';
import { findAwaited } from '../../../src/following/observations';
import { reopenFinal } from '../../../src/following/reopen-final';
import * as store from '../../../src/following/store';
import { collectFollowers, collectOutbox } from '../../../src/monitoring/backlogs';
import { collectBroadcasts, collectHeld, collectOpen, collectParked } from '../../../src/monitoring/open-transactions';
import { findBacklogs } from '../../../src/outbox/outbox';
import { dispatchBlacklists } from '../../../src/screening/distribution';
import { reportSettlers } from '../../../src/settlers/report';
import { sendRequestedWithdrawals } from '../../../src/settlers/withdrawals/send';
import { getFamily } from '../../../src/chains/families';
import { takeExpired } from '../../../src/transfers/screen/approval-expiry';
import { newId } from '../../../src/platform/ids';
import { findParkedBefore, findUnexecutedBefore } from '../../../src/transfers/line';
import { loadAttempts } from '../../../src/transfers/load-attempts';
import { claimRedoRequests } from '../../../src/transfers/redo/requests';
import { findStarted, findUnended, lowestId } from '../../../src/transfers/start/lost-workflows';
import { StartLimits } from '../../../src/transfers/start/start-limits';
import { restartLostGenerations } from '../../../src/wallets/lost-generations';
import { createTestDatabase, openDatabase, type TestDatabase } from '../../stack/database';

/**
 * What the follower and the periodic jobs ask of Postgres, as they ask it, at a million rows of each big table: every statement that a
 * function sends is explained with its parameters. Rows are like those of production, inserted without triggers.
 */

const million = 1_000_000;
/** Blocks of the followed chain; the rows are spread over them. */
const head = 250_000;
const finality = 64;
const big = [
  'transactions',
  'transfer_attempts',
  'attempt_ids',
  'accounts',
  'reservations',
  'attempt_reservations',
  'chain_outputs',
  'output_origins',
  'foreign_transactions',
  'ledger_postings',
  'ledger_entries',
  'redo_requests',
];

const ethereum = { ...registry.get('ethereum'), finalityDepth: finality };
const bitcoin = localBitcoin();

let testDatabase: TestDatabase;
let database: DataSource;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase(testDatabase.url, { poolSize: 2 });
  await database.transaction(async (manager) => {
    await manager.query(`set local session_replication_role = 'replica'; set local maintenance_work_mem = '256MB'`);
    // indexes are built afterwards, which is much faster
    const indexes = await manager.query<{ name: string; definition: string }[]>(
      `select i.relname as name, pg_get_indexdef(i.oid) as definition from pg_index x join pg_class i on i.oid = x.indexrelid
        where x.indrelid = any($1::text[]::regclass[]) and not exists (select from pg_constraint c where c.conindid = i.oid)`,
      [big],
    );
    for (const { name } of indexes) await manager.query(`drop index ${name}`);
    for (const statement of rows) await manager.query(statement);
    for (const { definition } of indexes) await manager.query(definition);
  });
  await database.query('analyze');
}, 900_000);
afterAll(async () => {
  await database.destroy();
  await testDatabase.drop();
});

/** A million accounts, outputs and transactions: two of three are transfers with an attempt, the others deposits. What is open is near the head. */
const rows = [
  `insert into chain_cursors (chain, caip2, next_block, head_block, fee_levels, agreed_to)
   values ('ethereum', 'eip155:1', ${head + 1}, ${head}, '{}', ${head - 2}), ('bitcoin', '${bitcoin.caip2}', ${head + 1}, ${head}, '{}', null)`,
  `insert into chain_blocks (chain, number, hash, parent_hash)
   select chain, n, 'b' || n, 'b' || n - 1 from unnest(array['ethereum', 'bitcoin']) chain, generate_series(${head - 256}, ${head}) n`,
  `insert into accounts (account_id, wallet_id, client_id, family, chain, network, address, address_key, key_id, key_protocol, derivation_path, address_index)
   select md5('a' || n)::uuid, md5('w' || n / 10)::uuid, md5('c' || n / 200)::uuid, 'evm', 'ethereum', 'local', 'A' || n, 'a' || n, 'k', 'ecdsa-secp256k1', 'm/60/0', n
     from generate_series(1, ${million}) n`,
  `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, direction, is_held, is_signed, from_address, to_address, to_address_key, token_symbol, decimals,
     amount, fee_symbol, fee_decimals, fee, status, signing_begun_at, tx_hash, position, block_number, block_hash, required_confirmations, idempotency_key, ended_at, created_at, finalized_at)
   select md5('t' || n)::uuid, md5('c' || (n % 20000) / 200)::uuid, md5('w' || (n % 20000) / 10)::uuid, md5('a' || n % 20000)::uuid, md5('ETH' || n % 20000)::uuid,
     'ethereum', case when is_out then 'OUTBOUND' else 'INBOUND' end, case when is_out then 'out' else 'in' end, is_out, is_out, 'x', 'y', 'y', 'ETH', 18, 1, 'ETH', 18, case when is_out then 1 end,
     case when n <= ${million} - 200 then 'CONFIRMED' when is_out and n % 10 = 0 then 'NEEDS_ATTENTION' when is_out then 'SUBMITTED' else 'DETECTED' end, case when is_out then now() end, 'h' || n, case when not is_out then '0' end,
     case when is_out and n > ${million} - 200 then null else n / 4 end, case when is_out and n > ${million} - 200 then null else 'b' || n / 4 end, 1,
     case when is_out then 'k' || n end, case when n <= ${million} - 200 then now() end, now() - n * interval '1 second',
     case when n / 4 < ${head - finality} then now() end
     from generate_series(1, ${million}) n, lateral (select n % 3 > 0 as is_out) o`,
  `insert into transfer_attempts (tx_id, attempt, kind, chain, prepared, unsigned, signers, message_key, fee_bound, tx_hash, signed, signed_at, block_number, block_hash, success, fee, included_id, impossible_proof)
   select md5('t' || n)::uuid, 1, 'first', 'ethereum', '{}', '0x', '[]', 'm' || n, 1, 'h' || n, '0x', now(), n / 4, 'b' || n / 4, true, 1, 'h' || n, case when n % 50000 = 1 then '{}'::jsonb end
     from generate_series(1, ${million}) n where n % 3 > 0`,
  `insert into attempt_ids (chain, id, tx_id, attempt) select chain, tx_hash, tx_id, attempt from transfer_attempts`,
  `insert into reservations (chain, owner, resource, ordinal, tx_id)
   select 'ethereum', 'a' || n % 20000, n / 20000, n / 20000, md5('t' || n)::uuid from generate_series(1, ${million}) n where n % 3 > 0`,
  `insert into attempt_reservations select tx_id, 1, reservation_id from reservations`,
  `insert into foreign_transactions (chain, owner, ordinal, id, block_number)
   select 'ethereum', 'a' || n % 20000, n / 20000, 'h' || n, n / 4 from generate_series(1, ${million}) n where n % 3 = 0`,
  `insert into chain_outputs (chain, resource, owner, amount, block_number, spendable_from, made_by, spent_by, spent_block)
   select 'bitcoin', 'o' || n, 'a' || n % 20000, 1, n / 4, n / 4, 'h' || n, case when n % 10 > 0 then 's' || n end, case when n % 10 > 0 then n / 4 end
     from generate_series(1, ${million}) n`,
  `insert into ledger_postings (posting_id, tx_id, kind, seq, entries)
   select md5('p' || n)::uuid, md5('t' || n)::uuid, case when n % 3 > 0 then 'lock' else 'deposit' end, 0, 2 from generate_series(1, ${million}) n`,
  `insert into ledger_entries (posting_id, line, ledger_account_id, bucket, chain, symbol, amount)
   select md5('p' || n)::uuid, 0, case when not is_loss then md5('ETH' || n % 20000)::uuid end, case when is_loss then 'LOSS' else 'AVAILABLE' end,
     'ethereum', 'ETH', -1 from generate_series(1, ${million}) n, lateral (select n % 1000 = 3 as is_loss) o`,
  `insert into redo_requests (tx_id, operator, ended_at, failure_code, failure_message)
   select md5('t' || n)::uuid, 'o', case when n > 10 then now() end, case when n > 10 then 'not_found' end, case when n > 10 then 'm' end
     from generate_series(1, ${million / 10}) n`,
  // those of final blocks are forgotten
  `insert into output_origins (chain, transaction, input, spent_by, spent_block)
   select 'bitcoin', 'h' || n, 'i' || n, 'h' || n, ${head} - ${finality} + 1 + n * ${finality} / ${million + 1} from generate_series(1, ${million}) n`,
];

/** Statements that a function sends, which is rolled back. What it makes of what comes back does not matter here. */
async function statementsOf(run: (manager: EntityManager, database: DataSource) => Promise<unknown>) {
  const sent: [string, unknown[]][] = [];
  const runner = database.createQueryRunner();
  await runner.startTransaction();
  await runner.query(`set local session_replication_role = 'replica'`);
  const record = (query: string, parameters: unknown[] = []) => {
    sent.push([query, parameters]);
    return runner.manager.query(query, parameters);
  };
  const manager = Object.create(runner.manager, { query: { value: record } }) as EntityManager;
  // its transaction is the one that is rolled back
  const nothing = () => Promise.resolve();
  const ends = { startTransaction: nothing, commitTransaction: nothing, rollbackTransaction: nothing, release: nothing };
  const connect = () => Promise.resolve({ nextSent: nothing });
  const createQueryRunner = () => ({ ...ends, connect, manager });
  await run(manager, { query: record, manager, createQueryRunner } as unknown as DataSource);
  await runner.rollbackTransaction();
  await runner.release();
  return sent;
}

async function planOf([query, parameters]: [string, unknown[]]): Promise<string> {
  const lines = await database.query<{ 'QUERY PLAN': string }[]>(`explain ${query}`, parameters);
  return lines.map((line) => line['QUERY PLAN']).join('\n');
}

const silent = { error: () => undefined, warn: () => undefined, info: () => undefined } as never;
const near = head - 10;
const deposit = (n: number) => ({
  txHash: `h${n}`,
  position: '0',
  fromAddress: 'x',
  toAddress: `0x${'a'.repeat(40)}`,
  tokenContract: null,
  amount: 1n,
});
/** A full block of a chain with outputs: of few that it spends and makes the gateway has an account. */
const full = {
  ...{ number: head, hash: `b${head}`, parentHash: `b${head - 1}`, transactions: [], deposits: [] },
  outputs: {
    made: Array.from({ length: 200 }, (_, n) => ({
      ...{ resource: `o${million + n}`, owner: `a${n}`, amount: 1n, spendableFrom: head, madeBy: `h${n}` },
    })),
    spent: Array.from({ length: 20_000 }, (_, n) => ({ resource: n % 100 === 0 ? `o${n * 10}` : `x${n}`, by: `s${n}` })),
    origins: Array.from({ length: 5_000 }, (_, n) => ({ id: `h${n}`, blockNumber: head, inputs: [`i${n}`, `j${n}`] })),
  },
};
const transactions = Array.from({ length: 5_000 }, (_, n) => ({ id: `h${n}`, messageKey: n % 10 === 0 ? `m${n}` : null }));
const signed = transactions.slice(0, 100).map((it, n) => ({ ...it, position: { owner: `a${n}`, ordinal: BigInt(n) } }));
const nobody = () => {
  throw new Error('nobody is parked');
};
const attempt = { txId: '01890000-0000-7000-8000-000000000000', attempt: 1, id: 'h1' };
const effect = { blockNumber: near, blockHash: 'b', success: true, fee: 1n, debited: null, received: null };
const asked = {
  funding: new FundingMemory(),
  chain: bitcoin,
  client: { compareBlock: () => Promise.reject(new Error('nobody asks')) } as never,
  observe: () => Promise.reject(new Error('nobody asks')),
  logger: silent,
  signal: new AbortController().signal,
};

test.each<[string, (manager: EntityManager, database: DataSource) => Promise<unknown>]>([
  [
    'the cursor and the blocks',
    async (manager) => {
      await store.findCursor(manager, ethereum);
      await store.newestBlockUpTo(manager, 'ethereum', near);
      await store.storedBlocksBelow(manager, 'ethereum', near, 32);
      await store.agree(manager, 'ethereum', { number: near, hash: `b${near}` });
      await store.moveCursor(manager, 'ethereum', head + 1, near);
      await store.dropBlocks(manager, 'ethereum', near);
    },
  ],
  [
    'what a poll stores of the head, and a scan of its blocks',
    async (manager) => {
      await store.storeHead(manager, 'ethereum', head, {});
      await store.storeHeadWithoutLevels(manager, 'ethereum', head);
      await store.storeBlocks(manager, 'ethereum', [full], head - 256);
    },
  ],
  [
    'which addresses are ours',
    (manager) =>
      depositAddresses(
        manager,
        'evm',
        Array.from({ length: 5_000 }, (_, n) => `a${n * 1_000}`),
      ),
  ],
  ['attempts among the transactions of blocks', (manager) => findAttemptsAmong(manager, 'ethereum', transactions)],
  ['storing an inclusion', (manager) => inclusions.storeInclusion(manager, attempt, effect)],
  ['deposits of a range', (manager) => recordDeposits(manager, ethereum, [{ ...deposit(3), blockNumber: near, blockHash: 'b' }])],
  [
    'deposits without a block',
    async (manager) => {
      await recordPendingDeposits(manager, ethereum, [deposit(7)]);
      await findPendingHashes(manager, 'ethereum');
      await endPendingDeposits(manager, 'ethereum', ['h3', 'h6']);
    },
  ],
  ['crediting deposits', (manager) => confirmDeposits(manager, ethereum, head, head).catch(() => undefined)],
  ['undoing deposits', (manager) => orphanDeposits(manager, ethereum, near).catch(() => undefined)],
  ['what is final', (manager) => inclusions.finalize(manager, 'ethereum', head - finality + 1)],
  ['inclusions that blocks contradict', (manager) => inclusions.clearContradicted(manager, 'ethereum', head - finality, head)],
  ['inclusions of a roll-back', (manager) => inclusions.clearInclusions(manager, 'ethereum', near)],
  ['what workflows wait for', (manager) => findAwaited(manager, ethereum, head)],
  ['ends that the chain contradicts', (manager) => findContradictedEnds(manager, 'ethereum')],
  ['attempts executed after proof', (manager) => findExecutedAfterProof(manager, 'ethereum')],
  ['outputs that blocks make and spend', (manager) => storeOutputs(manager, 'bitcoin', [full])],
  ['where outputs come from that blocks make', (manager) => storeOrigins(manager, 'bitcoin', [full], head - finality)],
  [
    'what had counted as final and is in no block any more',
    (manager) =>
      reopenFinal(
        manager,
        'ethereum',
        Array.from({ length: 1_000 }, () => newId()),
      ),
  ],
  ['outputs of a roll-back', (manager) => takeBackOutputs(manager, 'bitcoin', near)],
  [
    'spends by others',
    async (manager) => {
      await storeForeignSpends(manager, bitcoin, head - 5, head);
      await takeBackForeignSpends(manager, 'bitcoin', near);
      await findForeignSpends(manager, 'bitcoin', near);
    },
  ],
  ['parked transfers without funds', (_, recorded) => new FundingWatch({ ...asked, database: recorded }).ask(head)],
  [
    'the same on a chain without outputs',
    (_, recorded) => new FundingWatch({ ...asked, chain: ethereum, database: recorded }).ask(head),
  ],
  [
    'what else has used up nonces',
    async (manager) => {
      await storeForeignTransactions(manager, 'ethereum', [
        { number: head, hash: `b${head}`, parentHash: `b${near}`, transactions: signed, deposits: [] },
      ]);
      await takeBackForeignTransactions(manager, 'ethereum', near);
    },
  ],
  [
    'the line of a sender',
    async (manager) => {
      await findParkedBefore(manager, nobody, { chain: 'ethereum', addressKey: 'a7' });
      await findUnexecutedBefore(manager, attempt.txId);
    },
  ],
  ['where outputs come from', (manager) => createFindOrigins(manager, 'bitcoin')(['m1', 'm2'])],
  [
    'attempts and reservations of a transfer',
    async (manager) => {
      await loadAttempts(manager, attempt.txId);
      await findReservations(manager, attempt.txId);
    },
  ],
  ['accounts used elsewhere', (manager) => findDoubtedOrdinals(manager, 'ethereum')],
  ['overdue approvals', (manager) => takeExpired(manager, [])],
  [
    'transfers without a workflow',
    async (manager) => {
      await findStarted(manager, lowestId, 100);
      await findUnended(manager, [attempt.txId]);
    },
  ],
  ['requests to redo', (_, recorded) => claimRedoRequests(recorded, 10).catch(() => undefined)],
  ['lost key generations', (_, recorded) => restartLostGenerations(recorded, {} as never)],
  ['withdrawals of settlers', (_, recorded) => sendRequestedWithdrawals({ database: recorded, registry, getFamily })],
  ['changed blacklists', (_, recorded) => dispatchBlacklists(recorded, {} as never, silent)],
  ['settlers', (manager) => reportSettlers(manager, getFamily)],
  [
    'room for starts',
    async (manager) => {
      const none = () => Promise.resolve(new Map<string, number>());
      const limits = new StartLimits({ maxInFlight: 1, maxPending: 1, maxPendingPerClient: 1 }, none);
      await limits.assertBacklogHasRoom(manager, attempt.txId);
      await limits.take(manager, 'ethereum', attempt.txId);
      await limits.isBehindParked(manager, { account_id: null, chain: 'ethereum', transaction_type: 'OUTBOUND' });
    },
  ],
  ['messages that wait', (manager) => findBacklogs(manager)],
  [
    'metrics',
    async (manager) => {
      await collectOpen(manager, registry);
      await collectParked(manager);
      await collectHeld(manager, registry);
      await collectBroadcasts(manager, registry);
      await collectFollowers(manager, registry);
      await collectOutbox(manager);
    },
  ],
])('%s: no big table is read from end to end', async (_, run) => {
  const sent = await statementsOf(run);
  expect(sent.length).toBeGreaterThan(0);
  for (const statement of sent) {
    const plan = await planOf(statement);
    for (const table of big) expect(plan).not.toMatch(new RegExp(`Seq Scan on ${table}\\b`));
  }
});

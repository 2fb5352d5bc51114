import { randomUUID } from 'node:crypto';
import { parseAmount } from '../../src/platform/money';
import { gatewayQuery } from '../adversary/processes';
import { reconcile } from '../adversary/reconcile';
import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { balances, call, transactionWhen, type Account } from '../e2e/support';
import { randomAddress } from '../factories';
import { backUp, restore } from '../stack/backup';
import { stack, waitFor } from '../stack/client';
import { pause, resumeAll } from '../stack/pause';
import { Holds } from './holds';
import { chainAt, crashAccount, onChain } from './transfer';

/** The gateway's database is restored from a backup, on the real stack: transfers since then come back with their keys, and nothing is paid twice. */

const amount = '0.01';
let account: Account;
beforeAll(async () => {
  account = await crashAccount();
}, 300_000);
afterEach(() => resumeAll());

interface Request {
  key: string;
  to: string;
}

const newRequest = (): Request => ({ key: randomUUID(), to: randomAddress() });
const send = ({ key, to }: Request) =>
  call('POST', '/transfer', {
    body: { from_address: account.address, to_address: to, chain: 'ethereum', token_symbol: 'ETH', amount },
    headers: { 'idempotency-key': key },
  });

/** Sent again as long as the database is away or being compared. */
async function accepted(request: Request): Promise<string> {
  const { body } = await waitFor(
    async () => {
      const answer = await send(request);
      return answer.status === 202 && answer;
    },
    { timeoutMs: 60_000, intervalMs: 500 },
  );
  return body.tx_id as string;
}

/** Ordered and signed by the nodes; the worker has not stored the signature, and sends nothing. */
async function signedByNodes(request: Request): Promise<string> {
  const holds = await Holds.install(stack().postgres.url);
  try {
    await holds.hold('broadcast: recordSigned');
    const txId = await accepted(request);
    await holds.reached('broadcast: recordSigned', 60_000);
    pause('worker');
    return txId;
  } finally {
    await holds.remove();
  }
}

/** The follower of the restored database has read the chain up to now. */
async function followed(): Promise<void> {
  const head = await chainAt('ethereum').getBlockNumber();
  await waitFor(
    async () => {
      const [row] = await gatewayQuery<{ next_block: string }>(`select next_block from chain_cursors where chain = 'ethereum'`);
      return BigInt(row?.next_block ?? 0) > head;
    },
    { timeoutMs: 60_000 },
  );
}

test('transfers since the backup are rebuilt with their keys and end on the chain as they did; the same request does not pay again', async () => {
  await backUp();
  const paid = [newRequest(), newRequest()];
  const paidIds = await Promise.all(paid.map(accepted));
  for (const txId of paidIds) await transactionWhen(txId, ['CONFIRMED'], 120_000);
  const begun = newRequest();
  const begunId = await signedByNodes(begun);
  await restore();
  resumeAll();

  const isClosed = async () => {
    const { status, body } = await send(newRequest());
    return status === 503 && body.code === 'reconcile_required';
  };
  const missing = async () => (await gatewayQuery('select from order_comparison where missing_since is not null')).length > 0;
  await waitFor(missing, { timeoutMs: 60_000 });
  await waitFor(isClosed, { timeoutMs: 60_000 });
  for (const request of paid) expect(await send(request)).toMatchObject({ status: 503 });
  await followed();

  const all = [...paidIds, begunId];
  const dry = await reconcile();
  expect(dry.code).toBe(0);
  const tried = JSON.parse(dry.out) as { nodes: number[]; rows: { subject: string; result: string }[]; is_open: boolean };
  expect(tried).toMatchObject({ nodes: [1, 2, 3], is_open: false, started: [] });
  expect(tried.rows.map(({ subject, result }) => [subject, result]).sort()).toEqual(all.map((txId) => [txId, 'rebuilt']).sort());
  expect(await isClosed()).toBe(true);

  const applied = await reconcile('--apply');
  expect(applied).toMatchObject({ code: 0 });
  expect(JSON.parse(applied.out)).toMatchObject({ is_open: true });
  for (const [index, request] of [...paid, begun].entries()) expect(await accepted(request)).toBe(all[index]);
  for (const txId of all) await transactionWhen(txId, ['CONFIRMED'], 180_000);

  const later = newRequest();
  const laterId = await accepted(later);
  await transactionWhen(laterId, ['CONFIRMED'], 120_000);
  for (const { to } of [...paid, begun, later]) expect(await onChain('ethereum', to)).toBe(parseAmount(amount, 18));
  const { ETH } = await balances(account.account_id, 'ethereum');
  expect(ETH?.locked_balance).toBe('0');
  expect(parseAmount(ETH?.balance ?? '', 18)).toBe(await onChain('ethereum', account.address));
  expect(await ledgerDifferences()).toEqual([]);
  expect(await recordDifferences()).toEqual([]);
}, 600_000);

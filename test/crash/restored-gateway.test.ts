import { randomUUID } from 'node:crypto';
import type { Prepared } from '../../src/chains/types';
import { parseAmount } from '../../src/platform/money';
import { gatewayQuery, withDatabase } from '../adversary/processes';
import { reconcile } from '../adversary/reconcile';
import { recordDifferences } from '../adversary/records';
import { Refused, TemporalClient } from '../adversary/temporal-client';
import { ledgerDifferences } from '../e2e/ledger';
import { allSettlers } from '../e2e/payers';
import { balances, call, transactionWhen, type Account } from '../e2e/support';
import { randomAddress } from '../factories';
import { backUp, restore } from '../stack/backup';
import { stack, waitFor } from '../stack/client';
import { pause, resumeAll } from '../stack/pause';
import { Holds } from './holds';
import { chainAt, crashAccount, onChain } from './transfer';

/**
 * The gateway's database is restored from a backup, on the real stack: it closes itself, transfers since then come back with their keys, nothing is
 * paid twice, and books, journals and chain are equal in the end.
 */

const amount = '0.01';
let account: Account;
beforeAll(async () => {
  account = await crashAccount();
  // a key that is generated after the backup belongs to nothing that is rebuilt
  await allSettlers();
  await waitFor(async () => (await gatewayQuery('select from free_pooled_keys')).length > 0, { timeoutMs: 360_000 });
}, 1_500_000);
afterEach(() => resumeAll());

interface Request {
  key: string;
  to: string;
}

/** Of a refusal while orders are missing. */
const oneSentence = /^The database is being compared with the signing nodes, or must be reconciled with them by an operator$/;

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

/** `gateway reconcile` once nothing is missing. */
async function verdict(): Promise<object> {
  const { code, out } = await reconcile();
  return { code, ...(JSON.parse(out) as object) };
}

/** Removes what a rebuilt transfer is found by; returns it. Only the owner of the schema can, against its own trigger. */
async function forgetRequest(txId: string): Promise<string> {
  const [row] = await withDatabase(stack().postgres.url, async (database) => {
    await database.query('begin');
    await database.query('alter table rebuilt_requests disable trigger user');
    const { rows } = await database.query<{ request: string }>(
      'delete from rebuilt_requests where tx_id = $1 returning request',
      [txId],
    );
    await database.query('alter table rebuilt_requests enable trigger user');
    await database.query('commit');
    return rows;
  });
  return row?.request ?? '';
}

/** What the authoriser answers to whoever asks it to begin signing. */
async function refusalToSign(txId: string, prepared: Prepared): Promise<string> {
  const temporal = await TemporalClient.connect();
  try {
    const refused = await temporal.beginSigning({ txId, lastAttempt: 0, kind: 'first', prepared }).then(
      ({ outcome }) => new Refused('none', outcome),
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: 'reconcile_required' });
    return (refused as Refused).message;
  } finally {
    await temporal.close();
  }
}

const setBalance = (address: string, value: bigint) =>
  chainAt('ethereum').request({ method: 'anvil_setBalance', params: [address, `0x${value.toString(16)}`] } as never);

test('transfers since the backup are rebuilt with their keys and end on the chain as they did; the same request does not pay again', async () => {
  // in the backup it looks as if nothing had been signed
  pause('authoriser');
  const untouched = newRequest();
  const untouchedId = await accepted(untouched);
  await backUp();
  resumeAll();
  await transactionWhen(untouchedId, ['CONFIRMED'], 120_000);
  const [attempt] = await gatewayQuery<{ prepared: Prepared }>('select prepared from transfer_attempts where tx_id = $1', [
    untouchedId,
  ]);
  const paid = [newRequest(), newRequest()];
  const paidIds = await Promise.all(paid.map(accepted));
  for (const txId of paidIds) await transactionWhen(txId, ['CONFIRMED'], 120_000);
  const begun = newRequest();
  const begunId = await signedByNodes(begun);
  await restore();
  resumeAll();

  const isClosed = async () => {
    const { status, body } = await send(newRequest());
    if (status !== 503 || body.code !== 'reconcile_required') return false;
    expect(body.detail).toMatch(oneSentence);
    return true;
  };
  const missing = async () => (await gatewayQuery('select from order_comparison where missing_since is not null')).length > 0;
  await waitFor(missing, { timeoutMs: 60_000 });
  await waitFor(isClosed, { timeoutMs: 60_000 });
  for (const request of paid) expect(await send(request)).toMatchObject({ status: 503 });
  expect(await refusalToSign(untouchedId, attempt?.prepared as Prepared)).toMatch(oneSentence);
  await followed();

  const all = [untouchedId, ...paidIds, begunId];
  const dry = await reconcile();
  expect(dry.code).toBe(0);
  const tried = JSON.parse(dry.out) as { nodes: number[]; rows: { subject: string; result: string }[]; is_open: boolean };
  expect(tried).toMatchObject({ nodes: [1, 2, 3], is_open: false, started: [] });
  expect(tried.rows.map(({ subject, result }) => [subject, result]).sort()).toEqual(all.map((txId) => [txId, 'rebuilt']).sort());
  expect(await isClosed()).toBe(true);

  const applied = await reconcile('--apply');
  expect(applied).toMatchObject({ code: 0 });
  // what has just been rebuilt is not compared before it has ended
  expect(JSON.parse(applied.out)).toMatchObject({ is_open: true, equal: null });
  for (const [index, request] of [untouched, ...paid, begun].entries()) expect(await accepted(request)).toBe(all[index]);
  for (const txId of all) await transactionWhen(txId, ['CONFIRMED'], 180_000);

  const later = newRequest();
  const laterId = await accepted(later);
  await transactionWhen(laterId, ['CONFIRMED'], 120_000);
  for (const { to } of [untouched, ...paid, begun, later]) expect(await onChain('ethereum', to)).toBe(parseAmount(amount, 18));
  const { ETH } = await balances(account.account_id, 'ethereum');
  expect(ETH?.locked_balance).toBe('0');
  expect(parseAmount(ETH?.balance ?? '', 18)).toBe(await onChain('ethereum', account.address));
  expect(await ledgerDifferences()).toEqual([]);
  expect(await recordDifferences()).toEqual([]);

  const compared = { transfers: all.length, open: 0, balances: 1, not_asked: [] };
  expect(await verdict()).toMatchObject({ code: 0, rows: [], equal: true, compared, differences: [] });
  const [paidId = ''] = paidIds;
  const request = await forgetRequest(paidId);
  expect(await verdict()).toMatchObject({
    ...{ code: 1, rows: [], equal: false },
    differences: [expect.objectContaining({ check: 'a repeated request finds its transfer', subject: paidId })],
  });
  await gatewayQuery('insert into rebuilt_requests (request, tx_id) values ($1, $2)', [request, paidId]);
  const { address } = account;
  const had = await onChain('ethereum', address);
  await setBalance(address, had + 1n);
  expect(await verdict()).toMatchObject({
    ...{ code: 1, equal: false },
    differences: [
      expect.objectContaining({ check: 'the chain holds what the ledger says', expected: `${had}`, actual: `${had + 1n}` }),
    ],
  });
  await setBalance(address, had);
  expect(await verdict()).toMatchObject({ code: 0, equal: true });
});

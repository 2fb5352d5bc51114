import { setTimeout as delay } from 'node:timers/promises';
import { parseAmount } from '../../src/platform/money';
import type { WalletView } from '../../src/wallets/schema';
import { gatewayQuery, loginOf } from '../adversary/processes';
import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { ends, fundedAccount, transactionWhen } from '../e2e/support';
import { api, areAllChecksPassing, type ClientName, dataFolder, stack, waitFor } from '../stack/client';
import { pause, resumeAll } from '../stack/pause';
import { readUnansweredCommits } from '../stack/unanswered-commits';
import { Holds } from './holds';
import { createSenders, Load, loadAmount, type Sender, type Sent } from './outage-load';
import { onChain } from './transfer';

/** Longer than everything that ends by itself: statements (15 s), leases of keys (30 s), database transactions that are idle (30 s). */
const outageSeconds = Number(process.env.OUTAGE_SECONDS ?? 60);
/** Load before the outage, and after it. */
const besideMs = 5_000;

let senders: Sender[];
beforeAll(async () => {
  senders = await createSenders();
});
afterEach(() => resumeAll());
afterAll(async () => expect(await recordDifferences()).toEqual([]));

interface Outage {
  /** Before the part is paused. */
  before?: (load: Load) => Promise<void>;
  /** While it is away. */
  during?: () => Promise<void>;
  /** Once it is back. */
  after?: () => Promise<void>;
}

/** Load from before the outage until after it; resolves when every transfer has ended. */
async function loadThrough(part: string, { before, during, after }: Outage = {}): Promise<{ sent: Sent[]; pausedAt: number }> {
  // new ones last for longer than the outage, in which none could be had
  for (const { client } of senders) api(client).forgetToken();
  const load = new Load(senders);
  let sent: Sent[];
  let pausedAt: number;
  try {
    await delay(besideMs);
    await before?.(load);
    pause(part);
    pausedAt = Date.now();
    await during?.();
    await delay(pausedAt + outageSeconds * 1_000 - Date.now());
    resumeAll();
    await waitFor(areAllChecksPassing, { timeoutMs: 180_000, intervalMs: 500 });
    await after?.();
    await delay(besideMs);
    sent = await load.stop();
  } catch (error) {
    // it would go on beside the tests that follow
    resumeAll();
    await load.stop().catch(() => undefined);
    throw error;
  }
  await expectEachOnce(sent);
  return { sent, pausedAt };
}

/** Every transfer ends as its client was told, under the only id that it got, and has moved its amount once if it is confirmed. There is no other one. */
async function expectEachOnce(sent: Sent[]): Promise<void> {
  for (const { txId, txIds, read, end, sender, to } of sent) {
    expect([...txIds]).toEqual([txId]);
    expect(read).toBe(200);
    expect((await transactionWhen(txId, ends, 600_000, sender.client)).status).toBe(end);
    expect(await onChain(sender.chain, to)).toBe(end === 'CONFIRMED' ? parseAmount(loadAmount, 18) : 0n);
  }
  const ids = sent.map(({ txId }) => txId);
  expect(new Set(ids).size).toBe(ids.length);
  const accounts = [...new Set(sent.map(({ sender }) => sender.account.account_id))];
  const stored = await gatewayQuery<{ tx_id: string }>(
    'select tx_id from transactions where account_id = any($1) and is_signed and not (tx_id = any($2))',
    [accounts, [...ids, ...earlier]],
  );
  expect(stored).toEqual([]);
  earlier.push(...ids);
  expect(await ledgerDifferences()).toEqual([]);
}

/** Transfers of earlier tests. */
const earlier: string[] = [];

async function createWallet(client: ClientName): Promise<{ client: ClientName; walletId: string }> {
  const request = { body: { wallet_name: 'created while Temporal is away' } };
  const { status, body } = await api(client).request<WalletView>('POST', '/wallets', request);
  expect([status, body.key_status]).toEqual([201, 'GENERATING']);
  return { client, walletId: body.wallet_id };
}

const keyStatus = async ({ client, walletId }: Awaited<ReturnType<typeof createWallet>>) =>
  (await api(client).request<WalletView>('GET', `/wallets/${walletId}`)).body.key_status;

test(`Temporal is away for ${outageSeconds} s under load: transfers and wallets are accepted at once, and run when it is back`, async () => {
  const wallets: Awaited<ReturnType<typeof createWallet>>[] = [];
  const during = async () => {
    wallets.push(...(await Promise.all([createWallet('demo'), createWallet('other')])));
    await delay(5_000);
    for (const wallet of wallets) expect(await keyStatus(wallet)).toBe('GENERATING');
  };
  const { sent } = await loadThrough('temporal', { during });
  for (const { answers } of sent) expect(answers).toEqual(['202']);
  // several each second, most of them before their workflow existed
  expect(sent.filter(({ end }) => end === 'CANCELLED').length).toBeGreaterThan(2 * outageSeconds);
  for (const wallet of wallets) await waitFor(async () => (await keyStatus(wallet)) === 'ACTIVE', { timeoutMs: 120_000 });
}, 1_200_000);

/** Requests of this account wait within COMMIT when Postgres stops. */
async function commitUnderWay(holds: Holds, load: Load, sender: Sender): Promise<void> {
  await holds.hold('accept: COMMIT', sender.account.address);
  for (let request = 0; request < 3; request += 1) load.send(sender);
  // each waits 2 s at most, and is then sent again: who is seen here has just come
  await holds.reached('accept: COMMIT', 60_000, sender.account.address);
}

test(`Postgres is away for ${outageSeconds} s under load: refused clearly, accepted once it is back, nothing twice`, async () => {
  const account = await fundedAccount('ethereum', { ETH: '1' });
  const holds = await Holds.install(stack().postgres.url);
  const before = (load: Load) => commitUnderWay(holds, load, { client: 'demo', chain: 'ethereum', account });
  // what waits there has been given up by then
  const after = () => holds.releaseAll();
  const { sent, pausedAt } = await loadThrough('postgres', { before, after }).finally(() => holds.remove());

  const refusals = sent.flatMap(({ answers }) => answers.filter((answer) => answer !== '202'));
  // every transfer of the outage was refused at least once
  expect(refusals.length).toBeGreaterThan(outageSeconds);
  // what claimed its key before the outage keeps it until its lease is over: 409 says so, and the same key is good later
  const clear = ['503 unavailable', '503 outcome_unknown', '409 idempotency_in_progress'];
  expect(refusals.filter((answer) => !clear.includes(answer))).toEqual([]);

  // only a request whose COMMIT was under way as Postgres stopped can have an unknown outcome
  const unknown = sent.flatMap(({ answers, sentAt }) => sentAt.filter((_, index) => answers[index] === '503 outcome_unknown'));
  for (const sentAt of unknown) expect(sentAt).toBeLessThanOrEqual(pausedAt);
  const login = new URL(loginOf('gateway_api')).username;
  const unanswered = readUnansweredCommits(dataFolder()).filter(
    (commit) => commit.login === login && commit.sentAtMs > pausedAt - besideMs,
  );
  expect(unknown.length).toBeGreaterThan(0);
  expect(unknown.length).toBeLessThanOrEqual(unanswered.length);
  // what is not there then is not carried out later by itself
  const asked = sent.filter(({ answers }) => answers.includes('503 outcome_unknown'));
  for (const { readAfterUnknown } of asked) expect([[200], [404, 404]]).toContainEqual(readAfterUnknown);
}, 1_200_000);

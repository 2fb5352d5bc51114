import { describeFamilies } from '../families';
import { areAllChecksPassing, fund, stack, waitFor } from '../stack/client';
import { pause, pids, resumeAll } from '../stack/pause';
import { ledgerDifferences } from '../e2e/ledger';
import { accountWith, balances, call, fundedAccount, transactionWhen, type Account } from '../e2e/support';
import { submit } from './submit';
import { expectBalanced } from './transfer';

const recipient = '0x000000000000000000000000000000000000dEaD';
let account: Account;

beforeAll(async () => {
  account = await fundedAccount('ethereum', { ETH: '5' });
});

afterEach(() => resumeAll());
afterAll(async () => {
  expect(await ledgerDifferences()).toEqual([]);
});

/** Accepted in the end, as by a client that repeats what was not carried out. */
const send = () => submit(account, recipient, '0.01');
const sent = async (): Promise<string> => (await send()).txId;

const transferBody = () => ({
  body: { from_address: account.address, to_address: recipient, chain: 'ethereum', token_symbol: 'ETH', amount: '0.01' },
});

/** More than the API has connections to the database: some of them wait for one. */
const moreThanConnections = 40;

test('Postgres hangs: 503 with Retry-After, also for what waits for a connection; work continues by itself', async () => {
  pause('postgres');
  const refused = await Promise.all(Array.from({ length: moreThanConnections }, () => call('POST', '/transfer', transferBody())));
  // nothing was begun before the pause, so that the outcome is known
  for (const { status, body, headers } of refused) {
    expect([status, body.code]).toEqual([503, 'unavailable']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect((await call('GET', '/health/ready')).status).toBe(503);
  resumeAll();
  await waitFor(areAllChecksPassing, { timeoutMs: 180_000 });
  await transactionWhen(await sent(), ['CONFIRMED']);
});

test('Postgres killed in the middle of transfers: all end, none twice', async () => {
  const ids = await Promise.all([1, 2, 3].map(sent));
  killAll('postgres');
  for (const id of ids) await transactionWhen(id, ['CONFIRMED'], 120_000);
});

test('Temporal killed: new transfers are accepted at once; they and open ones end', async () => {
  const open = await sent();
  killAll('temporal');
  const during = await send();
  expect(during.answers).toEqual(['202']);
  for (const id of [open, during.txId]) await transactionWhen(id, ['CONFIRMED'], 120_000);
});

test('one signing node hangs: another pair signs', async () => {
  pause('mpc', 1);
  const ids = await Promise.all([1, 2, 3].map(sent));
  for (const id of ids) await transactionWhen(id, ['CONFIRMED'], 120_000);
});

test('two signing nodes hang: waits in SIGNING with its funds locked, cannot be cancelled, and signs when one is back', async () => {
  pause('mpc', 2);
  const txId = await sent();
  await transactionWhen(txId, ['SIGNING']);
  const cancel = await call('POST', `/transactions/${txId}/cancel`);
  expect([cancel.status, cancel.body.code]).toEqual([409, 'not_cancellable']);
  await waitFor(async () => !(await areAllChecksPassing()), { timeoutMs: 30_000 });
  // a detail: the API goes on accepting
  expect((await call('GET', '/health/ready')).status).toBe(200);
  await sleep(5_000);
  expect((await call('GET', `/transactions/${txId}`)).body.status).toBe('SIGNING');
  resumeAll();
  await transactionWhen(txId, ['CONFIRMED'], 120_000);
});

describeFamilies('a chain', (fixture) => {
  const { chain, symbol, amount: coins } = fixture;
  let own: Account;
  beforeAll(async () => {
    own = await accountWith(fixture, ['1', '1']);
  });
  const send = () => submit(own, fixture.newAddress(), coins('0.01'), { chain });
  const statusOf = async (txId: string) => (await call('GET', `/transactions/${txId}`)).body.status as string;

  test('whose node hangs: accepted, waits, nothing refunded early; a cancel still works; resumes', async () => {
    pause(`chain:${chain}`);
    const [waiting, unwanted] = [await send(), await send()];
    expect([...waiting.answers, ...unwanted.answers]).toEqual(['202', '202']);
    const cancelled = await call('POST', `/transactions/${unwanted.txId}/cancel`);
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'CANCELLED']);
    await sleep(5_000);
    expect(await statusOf(waiting.txId)).toBe('PENDING');
    expect((await balances(own.account_id, chain))[symbol]?.locked_balance).not.toBe('0');
    resumeAll();
    await transactionWhen(waiting.txId, ['CONFIRMED'], 120_000);
    const late = await call('POST', `/transactions/${waiting.txId}/cancel`);
    expect([late.status, late.body.code]).toEqual([409, 'not_cancellable']);
    await expectBalanced(own, chain);
  });

  test('on which a deposit arrives while worker and API are down: credited once', async () => {
    const before = stack().processes.worker?.[0];
    killAll('worker');
    killAll('api');
    await fund(chain, symbol, own.address, coins('0.25'));
    await waitFor(() => stack().processes.worker?.[0] !== before, { timeoutMs: 30_000 });
    const found = () =>
      waitFor(
        async () => {
          const { body } = await call('GET', `/transactions?account_id=${own.account_id}`).catch(() => ({ body: { data: [] } }));
          const deposits = body.data.filter((item: { amount: string }) => item.amount === coins('0.25')) as { status: string }[];
          return deposits.some(({ status }) => status === 'CONFIRMED') && deposits;
        },
        { timeoutMs: 150_000, intervalMs: 500 },
      );
    expect(await found()).toHaveLength(1);
    await expectBalanced(own, chain);
  });
});

function killAll(name: string): void {
  for (const pid of pids(name)) process.kill(pid, 'SIGKILL');
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

import { describeOnStack, fixtures, isInStack } from '../families';
import type { FamilyFixture } from '../families/fixture';
import { dataFolder, fund, waitFor } from '../stack/client';
import { hold } from '../stack/held';
import { pause, pids, resumeAll } from '../stack/pause';
import { ledgerDifferences } from '../e2e/ledger';
import { accountWith, balances, call, fundedAccount, transactionWhen, type Account } from '../e2e/support';
import { submit, type Submission } from './submit';
import { expectBalanced } from './transfer';

const recipient = '0x000000000000000000000000000000000000dEaD';
let account: Account;

beforeAll(async () => {
  account = await fundedAccount('ethereum', { ETH: '5' });
}, 180_000);

afterEach(() => resumeAll());
afterAll(async () => {
  expect(await ledgerDifferences()).toEqual([]);
});

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
  await waitFor(async () => (await call('GET', '/health/ready')).status === 200, { timeoutMs: 60_000 });
  const accepted = await call('POST', '/transfer', transferBody());
  await transactionWhen(accepted.body.tx_id as string, ['CONFIRMED']);
});

test('Postgres killed in the middle of transfers: all end, none twice', async () => {
  const accepted = await Promise.all([1, 2, 3].map(() => call('POST', '/transfer', transferBody())));
  killAll('postgres');
  for (const { body } of accepted) await transactionWhen(body.tx_id as string, ['CONFIRMED'], 120_000);
});

test('Temporal killed: new transfers are accepted at once; they and open ones end', async () => {
  const open = await call('POST', '/transfer', transferBody());
  killAll('temporal');
  const during = await call('POST', '/transfer', transferBody());
  expect(during.status).toBe(202);
  for (const { body } of [open, during]) await transactionWhen(body.tx_id as string, ['CONFIRMED'], 120_000);
});

test('one signing node hangs: another pair signs', async () => {
  pause('mpc', 1);
  const ids = await Promise.all(
    [1, 2, 3].map(async () => (await call('POST', '/transfer', transferBody())).body.tx_id as string),
  );
  for (const id of ids) await transactionWhen(id, ['CONFIRMED'], 120_000);
});

test('two signing nodes hang: waits in SIGNING with its funds locked, cannot be cancelled, and signs when one is back', async () => {
  pause('mpc', 2);
  const { body } = await call('POST', '/transfer', transferBody());
  await transactionWhen(body.tx_id as string, ['SIGNING']);
  const cancel = await call('POST', `/transactions/${body.tx_id}/cancel`);
  expect([cancel.status, cancel.body.code]).toEqual([409, 'not_cancellable']);
  await waitFor(async () => (await call('GET', '/health/ready')).status === 503, { timeoutMs: 30_000 });
  await sleep(5_000);
  expect((await call('GET', `/transactions/${body.tx_id}`)).body.status).toBe('SIGNING');
  resumeAll();
  await transactionWhen(body.tx_id as string, ['CONFIRMED'], 120_000);
});

/** On every chain at the same time; each chain's tests say what has become of it there. */
describe('chains', () => {
  const here = fixtures.filter(isInStack);
  const accounts = new Map<string, Account>();
  const accountOn = ({ chain }: FamilyFixture) => accounts.get(chain) as Account;
  beforeAll(async () => {
    for (const fixture of here) accounts.set(fixture.chain, await accountWith(fixture, ['1', '1']));
  }, 300_000);

  describe('whose nodes hang', () => {
    const send = (fixture: FamilyFixture) => {
      const { chain, newAddress, amount: coins } = fixture;
      return submit(accountOn(fixture), newAddress(), coins('0.01'), { chain });
    };
    const statusOf = async ({ txId }: Submission) => (await call('GET', `/transactions/${txId}`)).body.status as string;
    const cancel = async ({ txId }: Submission) => {
      const { status, body } = await call('POST', `/transactions/${txId}/cancel`);
      return [status, body.code ?? body.status];
    };

    /** What is seen while they hang, and the transfer that waits for that. */
    async function askOf(fixture: FamilyFixture) {
      const [waiting, unwanted] = [await send(fixture), await send(fixture)];
      return { waiting, answers: [...waiting.answers, ...unwanted.answers], cancelled: await cancel(unwanted) };
    }
    const seen = new Map<string, Awaited<ReturnType<typeof askOf>> & { status: string; locked: string | undefined }>();
    beforeAll(async () => {
      for (const { chain } of here) pause(`chain:${chain}`);
      const asked = await Promise.all(here.map(async (fixture) => ({ fixture, ...(await askOf(fixture)) })));
      await sleep(5_000);
      for (const { fixture, ...found } of asked) {
        const { chain, symbol } = fixture;
        const locked = (await balances(accountOn(fixture).account_id, chain))[symbol]?.locked_balance;
        seen.set(chain, { ...found, status: await statusOf(found.waiting), locked });
      }
      resumeAll();
    }, 120_000);

    describeOnStack('a chain', (fixture) =>
      test('accepted, waits, nothing refunded early; a cancel still works; resumes', async () => {
        const found = seen.get(fixture.chain);
        if (!found) throw new Error('nothing was asked of it');
        const { waiting, locked, ...rest } = found;
        expect(rest).toEqual({ answers: ['202', '202'], cancelled: [200, 'CANCELLED'], status: 'PENDING' });
        expect(Number(locked)).toBeGreaterThan(0);
        await transactionWhen(waiting.txId, ['CONFIRMED'], 120_000);
        expect(await cancel(waiting)).toEqual([409, 'not_cancellable']);
        await expectBalanced(accountOn(fixture), fixture.chain);
      }),
    );
  });

  describe('on which a deposit arrives', () => {
    beforeAll(async () => {
      const parts = ['worker', 'api'];
      const release = parts.map((name) => hold(dataFolder(), name));
      try {
        parts.forEach(killAll);
        const deposit = (fixture: FamilyFixture) =>
          fund(fixture.chain, fixture.symbol, accountOn(fixture).address, fixture.amount('0.25'));
        await Promise.all(here.map(deposit));
      } finally {
        release.forEach((start) => start());
      }
    }, 120_000);

    describeOnStack('a chain', (fixture) =>
      test('while worker and API are down: credited once', async () => {
        const { chain, amount: coins } = fixture;
        const account = accountOn(fixture);
        const found = await waitFor(
          async () => {
            const { body } = await call('GET', `/transactions?account_id=${account.account_id}`);
            const deposits = body.data.filter((item: { amount: string }) => item.amount === coins('0.25')) as {
              status: string;
            }[];
            return deposits.some(({ status }) => status === 'CONFIRMED') && deposits;
          },
          { timeoutMs: 90_000, intervalMs: 500 },
        );
        expect(found).toHaveLength(1);
        await expectBalanced(account, chain);
      }),
    );
  });
});

function killAll(name: string): void {
  for (const pid of pids(name)) process.kill(pid, 'SIGKILL');
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

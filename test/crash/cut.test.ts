import { recordDifferences } from '../adversary/records';
import { call, ends, transactionWhen, type Account } from '../e2e/support';
import { randomAddress } from '../factories';
import { stack } from '../stack/client';
import { pause, resumeAll } from '../stack/pause';
import { Cut, cutGaps, cutOutcomes, type CutOptions } from './cuts';
import { submit, type Submission } from './submit';
import { crashAccount, expectBalanced, statusesOf, transferThrough } from './transfer';

let account: Account;
beforeAll(async () => {
  account = await crashAccount();
});
afterAll(async () => expect(await recordDifferences()).toEqual([]));

/** One transfer, the connection cut while what follows the gap is committed; not that of what another test file has left running. */
async function cutAt(options: CutOptions): Promise<Submission> {
  const cut = await Cut.install(stack().postgres.url, { ...options, address: account.address });
  try {
    return await transferThrough(account, async (send) => {
      const submission = send();
      expect(await cut.outcome()).toBe(cutOutcomes[options.fault]);
      return submission;
    });
  } finally {
    await cut.remove();
  }
}

describe.each(cutGaps)('connection cut while it is committed: %s', (gap) => {
  test('before Postgres receives the COMMIT: done again', async () => {
    const { answers } = await cutAt({ gap, fault: 'never arrives' });
    expect(answers).toEqual(gap === 'accept: insert' ? ['503 unavailable', '202'] : ['202']);
  });

  test('after Postgres has committed: done once', async () => {
    const { answers } = await cutAt({ gap, fault: 'answer lost' });
    expect(answers).toEqual(['202']);
  });
});

describe('connection cut while a cancel is committed', () => {
  afterEach(() => resumeAll());

  test.each([
    ['never arrives', [503, 200]],
    ['answer lost', [200]],
  ] as const)('%s: cancelled once', async (fault, answers) => {
    // the transfer waits for its fees, and cannot begin to sign
    pause('chain:ethereum');
    const { txId } = await submit(account, randomAddress(), '0.01');
    const cancel = async () => (await call('POST', `/transactions/${txId}/cancel`)).status;
    const { address } = account;
    const cut = await Cut.install(stack().postgres.url, { gap: 'screen: cancelTransfer', fault, address });
    const statuses: number[] = [];
    try {
      const [status, outcome] = await Promise.all([cancel(), cut.outcome()]);
      expect(outcome).toBe(cutOutcomes[fault]);
      statuses.push(status);
      if (status !== 200) statuses.push(await cancel());
    } finally {
      await cut.remove();
    }
    expect(statuses).toEqual(answers);
    resumeAll();
    expect(statusesOf(await transactionWhen(txId, ends))).toEqual(['PENDING', 'CANCELLED']);
    await expectBalanced(account, 'ethereum');
  });
});

test('accepted, and the database is away for longer than the outcome is looked up: outcome_unknown names the transfer', async () => {
  const { answers, txId } = await cutAt({ gap: 'accept: insert', fault: 'answer lost', awayMs: 9_000 });
  expect(answers[0]).toBe('503 outcome_unknown');
  expect(answers.at(-1)).toBe('202');
  expect((await call('GET', `/transactions/${txId}`)).status).toBe(200);
});

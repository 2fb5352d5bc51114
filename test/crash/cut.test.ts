import { recordDifferences } from '../adversary/records';
import { call, type Account } from '../e2e/support';
import { stack } from '../stack/client';
import type { Submission } from './submit';
import { Cut, cutGaps, type CutOptions } from './cuts';
import { crashAccount, transferThrough } from './transfer';

let account: Account;
beforeAll(async () => {
  account = await crashAccount();
}, 180_000);
afterAll(async () => expect(await recordDifferences()).toEqual([]), 240_000);

const outcomes = { 'never arrives': 'aborted', 'answer lost': 'committed' } as const;

/** One transfer, the connection cut while what follows the gap is committed. */
async function cutAt(options: CutOptions): Promise<Submission> {
  const cut = await Cut.install(stack().postgres.url, options);
  try {
    return await transferThrough(account, async (send) => {
      const submission = send();
      expect(await cut.outcome()).toBe(outcomes[options.fault]);
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

test('accepted, and the database is away for longer than the outcome is looked up: outcome_unknown names the transfer', async () => {
  const { answers, txId } = await cutAt({ gap: 'accept: insert', fault: 'answer lost', awayMs: 9_000 });
  expect(answers[0]).toBe('503 outcome_unknown');
  expect(answers.at(-1)).toBe('202');
  expect((await call('GET', `/transactions/${txId}`)).status).toBe(200);
});

import { gatewayQuery } from '../adversary/processes';
import { recordDifferences } from '../adversary/records';
import { gateway } from '../e2e/gateway';
import { call, transactionWhen, type Account } from '../e2e/support';
import { randomAddress } from '../factories';
import { stack, waitFor } from '../stack/client';
import { unusedCode } from './codes';
import { Cut, cutOutcomes } from './cuts';
import { submit } from './submit';
import { confirmedTimeline, crashAccount, expectBalanced, onChain, statusesOf } from './transfer';

let account: Account;
beforeAll(async () => {
  expect(await gateway(['client', 'policy', 'demo', '--whitelist', 'approve', '--cooling', '0'])).toMatchObject({ code: 0 });
  account = await crashAccount();
});
afterAll(async () => {
  await gateway(['client', 'policy', 'demo', '--whitelist', 'off']);
  expect(await recordDifferences()).toEqual([]);
});

/** Status and code of every answer to the same request, which is repeated while it is answered 503. */
async function approve(txId: string): Promise<string[]> {
  const request = { body: { mfa_code: await unusedCode() } };
  const answers: string[] = [];
  const send = async () => {
    const { status, body } = await call('POST', `/transactions/${txId}/approve`, request);
    answers.push(`${status} ${body.code ?? ''}`.trim());
    return status !== 503;
  };
  await waitFor(send, { timeoutMs: 25_000, intervalMs: 500 });
  return answers;
}

describe('connection cut while an approval is committed', () => {
  test.each([
    ['answer lost', 0, ['200', '200']],
    ['never arrives', 0, ['503 unavailable', '200']],
    // longer than the outcome is looked up
    ['answer lost', 9_000, ['503 outcome_unknown', '409 not_awaiting_approval']],
  ] as const)('%s, the database is away for %d ms: approved once', async (fault, awayMs, [first, last]) => {
    const to = randomAddress();
    const { txId } = await submit(account, to, '0.01');
    await transactionWhen(txId, ['AWAITING_APPROVAL']);
    const cut = await Cut.install(stack().postgres.url, { gap: 'screen: approve', fault, awayMs });
    try {
      const [answers, outcome] = await Promise.all([approve(txId), cut.outcome()]);
      expect(outcome).toBe(cutOutcomes[fault]);
      expect([answers[0], answers.at(-1)]).toEqual([first, last]);
    } finally {
      await cut.remove();
    }

    const transfer = await transactionWhen(txId, ['CONFIRMED'], 120_000);
    expect(statusesOf(transfer)).toEqual(['PENDING', 'AWAITING_APPROVAL', ...confirmedTimeline]);
    const approvals = `select from audit_events where subject_id = $1 and action = 'transfer.approved' and outcome = 'success'`;
    expect(await gatewayQuery(approvals, [txId])).toHaveLength(1);
    expect(await onChain('ethereum', to)).toBe(10n ** 16n);
    await expectBalanced(account, 'ethereum');
  });
});

import { parseAmount } from '../../src/platform/money';
import { ends as finalStates, transactionWhen } from '../e2e/support';
import { gapOf, type GapName } from './gaps';
import { amount, type InGap } from './scene';
import { attemptsOf, confirmedTimeline, expectBalanced, onChain, statusesOf } from './transfer';

const [pending, ...later] = confirmedTimeline;
const timelines: Partial<Record<GapName, unknown[]>> = {
  'screen: an approval is waited for': [pending, 'AWAITING_APPROVAL', pending, ...later],
  'screen: cancelTransfer': [pending, 'AWAITING_APPROVAL', 'CANCELLED'],
  'prepare: a cancellation': [pending, 'SIGNING', 'SUBMITTED', 'FAILED'],
};
const kinds: Partial<Record<GapName, string[]>> = {
  'screen: cancelTransfer': [],
  'prepare: a replacement': ['first', 'replacement'],
  'prepare: a cancellation': ['first', 'cancellation'],
};

/** A transfer ends as it must, under the only id that its client got: the money has moved once if it is confirmed, and not otherwise. */
export async function expectEnd({ name, account, to, submission }: InGap): Promise<void> {
  const { chain, end = 'CONFIRMED' } = gapOf(name);
  const { txId, txIds } = await submission;
  expect([...txIds]).toEqual([txId]);
  const transfer = await transactionWhen(txId, finalStates, 150_000);
  expect(transfer.status).toBe(end);
  expect(statusesOf(transfer)).toEqual(timelines[name] ?? confirmedTimeline);
  expect(await onChain(chain, to)).toBe(end === 'CONFIRMED' ? parseAmount(amount, 18) : 0n);

  const attempts = await attemptsOf(txId, chain);
  expect(attempts.map(({ kind }) => kind)).toEqual(kinds[name] ?? ['first']);
  const mined = attempts.filter((attempt) => attempt.mined);
  expect(mined).toHaveLength(end === 'CANCELLED' ? 0 : 1);
  if (end === 'FAILED') expect(mined[0]?.kind).toBe('cancellation');
  await expectBalanced(account, chain);
}

import { parseAmount } from '../../src/platform/money';
import { loadRegistry } from '../../src/chains/registry';
import { transferWorkflowId } from '../../src/messages/workflow-ids';
import { ends as finalStates, transactionWhen } from '../e2e/support';
import { fixtureOf } from '../families';
import { waitFor } from '../stack/client';
import { withTemporal } from '../stack/temporal';
import { endOf, gapOf } from './gaps';
import { amount, type InGap } from './scene';
import { type Attempt, attemptsOf, expectBalanced, onChain, statusesOf } from './transfer';

/** A transfer ends as it must, under the only id that its client got: the money has moved once if it is confirmed, and not otherwise. */
export async function expectEnd({ name, account, to, submission, chain = gapOf(name).chain }: InGap): Promise<void> {
  const { status, timeline, attempts: kinds } = endOf(name);
  const { txId, txIds } = await submission;
  expect([...txIds]).toEqual([txId]);
  const transfer = await transactionWhen(txId, finalStates, 150_000);
  expect(transfer.status).toBe(status);
  expect(statusesOf(transfer)).toEqual(timeline);
  const { decimals, amount: coins } = fixtureOf(chain);
  expect(await onChain(chain, to)).toBe(status === 'CONFIRMED' ? parseAmount(coins(amount), decimals) : 0n);

  const attempts = await attemptsOf(txId, chain);
  const { stuckAfterMs } = loadRegistry('local', [chain]).get(chain);
  expect(attempts.filter((_, at) => !isByClock(attempts, at, { kinds, stuckAfterMs })).map(({ kind }) => kind)).toEqual(kinds);
  const mined = attempts.filter((attempt) => attempt.mined);
  expect(mined).toHaveLength(status === 'CANCELLED' ? 0 : 1);
  if (status === 'FAILED') expect(mined[0]?.kind).toBe(kinds.at(-1));
  await expectBalanced(account, chain);
  await waitFor(async () => !(await isRunning(txId)), { timeoutMs: 60_000 });
}

interface Expected {
  kinds: readonly string[];
  stuckAfterMs: number;
}

/**
 * Whether an attempt is one more than expected, since on a busy machine the one before it had the chain's time to be included:
 * a replacement, or another one of the same kind. What is begun twice because of a crash follows sooner.
 */
function isByClock(attempts: readonly Attempt[], at: number, { kinds, stuckAfterMs }: Expected): boolean {
  const [before, attempt] = [attempts[at - 1], attempts[at]];
  if (!before || !attempt || attempt.begunAt.getTime() - before.begunAt.getTime() < stuckAfterMs) return false;
  const isExpected = kinds.includes(attempt.kind) && attempts.findIndex(({ kind }) => kind === attempt.kind) === at;
  return !isExpected && (attempt.kind === 'replacement' || attempt.kind === before.kind);
}

/** Its workflow; what it is told through the outbox ends it too. */
const isRunning = (txId: string): Promise<boolean> =>
  withTemporal(async ({ workflow }) => {
    const { status } = await workflow.getHandle(transferWorkflowId(txId)).describe();
    return status.name === 'RUNNING';
  });

import { ApplicationFailure } from '@temporalio/workflow';
import type { TransferWorkflowInput } from '../src/messages/transfer';
import { transferActivities } from './activities';
import { isActivityError, isCancelled, toProblem } from './failures';
import type { Next, NotBegun } from './transfer/next';
import { prepare } from './transfer/prepare';
import { sign } from './transfer/sign';
import { TransferState } from './transfer/state';

/**
 * Signs and sends a cancellation of a transfer that had failed for good and whose final block is gone, so that its nonce keeps no later transfer
 * waiting. The transfer stays FAILED: the follower sends the cancellation again, books what it has cost, and starts this once more where it was
 * not included. It fails with the reason why there is none, with an alert.
 */
export async function cancelReopened({ txId }: TransferWorkflowInput): Promise<void> {
  const state = new TransferState(txId);
  const adopted = await transferActivities.adoptReopened({ txId });
  if (adopted.outcome === 'ended') return;
  state.adopt(adopted.transfer);
  const failure = await cancel(state);
  if (!failure) return;
  const { code, reason } = failure;
  await transferActivities.reportNotCancelled({ txId, chain: state.transfer.chain, code, reason });
  throw ApplicationFailure.create({ type: code, message: reason, nonRetryable: true });
}

async function cancel(state: TransferState): Promise<NotBegun | undefined> {
  try {
    const prepared = await prepare(state, 'cancellation');
    return findFailure(prepared.next === 'sign' ? await sign(state, prepared) : prepared);
  } catch (error) {
    if (!isActivityError(error) || isCancelled(error)) throw error;
    const { code, message: reason } = toProblem(error);
    return { code, reason };
  }
}

/** undefined: it was sent, it is not needed since the chain has executed an attempt, or nothing is to be cancelled any more. */
function findFailure(stage: Next): NotBegun | undefined {
  if (stage.next === 'confirm') return stage.notBegun;
  // what another run has signed the follower sends
  if (stage.next === 'lock' || stage.next === 'ended' || stage.next === 'broadcast') return undefined;
  return stage.next === 'park' ? stage : { code: 'stuck', reason: `Nothing was sent, and ${stage.next} would be next` };
}

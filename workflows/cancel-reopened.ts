import { ApplicationFailure } from '@temporalio/workflow';
import type { TransferWorkflowInput } from '../src/messages/transfer';
import { transferActivities } from './activities';
import { prepare } from './transfer/prepare';
import { sign } from './transfer/sign';
import { TransferState } from './transfer/state';

/**
 * Signs and sends a cancellation of a transfer that had failed for good and whose final block is gone, so that its nonce keeps no later transfer
 * waiting. The transfer stays FAILED: the follower sends the cancellation again, books what it has cost, and starts this once more where it was
 * not included. It fails with the reason why there is none, so that operators see it.
 */
export async function cancelReopened({ txId }: TransferWorkflowInput): Promise<void> {
  const state = new TransferState(txId);
  const adopted = await transferActivities.adoptReopened({ txId });
  if (adopted.outcome === 'ended') return;
  state.adopt(adopted.transfer);
  const prepared = await prepare(state, 'cancellation');
  const sent = prepared.next === 'sign' ? await sign(state, prepared) : prepared;
  if (sent.next === 'park') throw ApplicationFailure.create({ type: sent.code, message: sent.reason, nonRetryable: true });
}

import { allHandlersFinished, ApplicationFailure, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { TransferWorkflowInput, TransferWorkflowResult } from '../messages';
import { confirm } from './confirm';
import { TransferRun } from './run';
import { screen, signAndBroadcast } from './steps';

/**
 * One transfer, from lock to unlock. Its state is in Postgres; every step finds its own earlier work by tx_id, so a
 * run may be continued, reset or retried anywhere without moving money twice.
 */
export async function transfer(input: TransferWorkflowInput): Promise<TransferWorkflowResult> {
  const run = new TransferRun(input);
  await run.locked();
  try {
    if (!run.ended && !run.submitted) {
      await screen(run);
      await signAndBroadcast(run, 'first');
    }
    await confirm(run);
  } catch (error) {
    if (!run.ended) throw error;
  }
  await condition(allHandlersFinished);
  if (run.wantsFreshHistory) await continueAsNew<typeof transfer>(run.continuation());
  return outcome(run);
}

/** Refused, rejected and cancelled transfers end well; a transfer that failed on the way ends the run as failed, for operators to see. */
function outcome({ txId, ended }: TransferRun): TransferWorkflowResult {
  if (!ended) throw new Error(`transfer ${workflowInfo().workflowId} left its steps without an end`);
  if (ended.status === 'FAILED') {
    throw ApplicationFailure.create({
      type: ended.code ?? 'internal_error',
      nonRetryable: true,
      message: `${ended.reason ?? 'The transfer failed'}. The amount is unlocked again; a new transfer can be made.`,
    });
  }
  return { txId, status: ended.status, code: ended.code };
}

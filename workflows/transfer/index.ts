import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  workflowInfo,
} from '@temporalio/workflow';
import { isCancelled, toProblem } from '../failures';
import type { TransferWorkflowInput, TransferWorkflowResult } from '../../src/messages/transfer';
import { confirm } from './confirm';
import { park, Released } from './leaving';
import { TransferRun } from './run';
import { screen } from './screen';
import { release, signAndBroadcast } from './steps';

/**
 * One transfer, from lock to unlock. Its state is in Postgres; every step finds its own earlier work by tx_id, so a
 * run may be continued, reset or started again anywhere without moving money twice. Temporal's own cancellation is not
 * obeyed: it would leave funds locked with nobody to unlock them. The update `cancel` is the way to cancel.
 */
export function transfer(input: TransferWorkflowInput): Promise<TransferWorkflowResult> {
  return CancellationScope.nonCancellable(async () => {
    const run = new TransferRun(input);
    await run.locked();
    await toItsEnd(run);
    await condition(allHandlersFinished);
    if (run.wantsFreshHistory) await continueAsNew<typeof transfer>(run.continuation());
    return outcome(run);
  });
}

/** The steps. What one of them refuses for good is for an operator: a run that failed would leave funds locked. */
async function toItsEnd(run: TransferRun): Promise<void> {
  while (!run.ended && !run.wantsFreshHistory) {
    try {
      if (run.releaseRequested) await release(run);
      else if (!run.submitted) {
        await screen(run);
        await signAndBroadcast(run, 'first');
      }
      // a cancellation refused before anything was submitted leaves the first attempt to be signed
      if (run.submitted) await confirm(run);
    } catch (error) {
      if (run.ended) return;
      if (error instanceof Released) continue;
      if (!isStepFailure(error) || isCancelled(error)) throw error;
      await park(run, toProblem(error).code, toProblem(error).message);
    }
  }
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

/** Activities fail with an ActivityFailure, local ones with their cause itself. Anything else is a bug, for the workflow task to fail on. */
function isStepFailure(error: unknown): boolean {
  return error instanceof ActivityFailure || error instanceof ApplicationFailure;
}

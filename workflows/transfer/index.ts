import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  setHandler,
} from '@temporalio/workflow';
import {
  abandonUpdate,
  chainObservedSignal,
  possibleUpdatesQuery,
  retryUpdate,
  transferApprovedSignal,
  type TransferEnd,
  transferEndedSignal,
  type TransferWorkflowInput,
  type TransferWorkflowResult,
} from '../../src/messages/transfer';
import { isActivityError, isCancelled, toProblem } from '../failures';
import { abandon, failByProof, proveAgain } from './abandon';
import { ask } from './ask';
import { broadcast } from './broadcast';
import { confirm } from './confirm';
import { lock } from './lock';
import { continueFromRows, type Next, park } from './next';
import { waitForOperator } from './park';
import { OperatorActs } from './operator-acts';
import { prepare } from './prepare';
import { resume } from './resume';
import { screen } from './screen';
import { settle } from './settle';
import { sign } from './sign';
import { sponsor } from './sponsor';
import { TransferState } from './state';

/** What the Temporal UI says about the messages that it offers. */
const descriptions = {
  approved: 'From the gateway: a user of the client has approved the transfer. Without that in the database it has no effect.',
  ended: 'From the gateway: the transfer has ended in the database. Without that it has no effect.',
  observed:
    'From the follower: what the chain shows of the transfer. It is not for operators: send `retry` to have the chain asked.',
  possible: 'Which of the updates `retry` and `abandon` the run would take now.',
  retry:
    'Once the cause is removed: goes on with a parked transfer, or asks the chain at once. No arguments. `gateway transfers retry` does the same.',
  abandon:
    'Ends a parked transfer that was signed. Use `gateway transfers abandon` in place of it: without the request that this command stores, it is not abandoned, and parked again.',
};

/**
 * One transfer: lock → screen → prepare → sign → broadcast → confirm → settle. Each stage returns the next one.
 *
 * Its state is in Postgres and every stage finds its own earlier work by tx_id, so a run may be continued, reset or started again
 * without moving money twice. Temporal's own cancellation is recorded and ignored: it would leave funds locked that nothing unlocks. Clients
 * cancel through the API.
 */
export async function transfer({ txId }: TransferWorkflowInput): Promise<TransferWorkflowResult> {
  const state = new TransferState(txId);
  const acts = new OperatorActs(txId);
  const root = CancellationScope.current();
  setHandler(transferApprovedSignal, () => state.onApproved(), { description: descriptions.approved });
  setHandler(transferEndedSignal, () => state.onEnded(), { description: descriptions.ended });
  setHandler(chainObservedSignal, (observation) => state.onObserved(observation), { description: descriptions.observed });
  setHandler(possibleUpdatesQuery, () => state.possibleUpdates, { description: descriptions.possible });
  // what a validator refuses leaves nothing in the history
  const retry = acts.handler('retry', () => state.onRetry());
  setHandler(retryUpdate, retry, { validator: () => state.assertRetryable(), description: descriptions.retry });
  const abandoning = acts.handler('abandon', () => state.onAbandon());
  setHandler(abandonUpdate, abandoning, { validator: () => state.assertAbandonable(), description: descriptions.abandon });

  return CancellationScope.nonCancellable(async () => {
    acts.watchCancellation(root);
    let stage: Next = { next: 'lock' };
    while (stage.next !== 'ended') {
      stage = await run(stage, state);
      // a new run begins with the rows too
      if ((stage.next === 'confirm' || stage.next === 'lock') && state.shouldContinueAsNew) {
        await condition(allHandlersFinished);
        await acts.finish();
        await continueAsNew<typeof transfer>({ txId });
      }
    }
    await condition(allHandlersFinished);
    await acts.finish();
    return finish(state, stage.end);
  });
}

/** Runs one stage. A permanent error of an activity is for an operator: a failed run would leave funds locked. */
async function run(stage: Exclude<Next, { next: 'ended' }>, state: TransferState): Promise<Next> {
  try {
    switch (stage.next) {
      case 'lock':
        return await lock(state);
      case 'ask':
        return await ask(state);
      case 'screen':
        return await screen(state);
      case 'sponsor':
        return await sponsor(state);
      case 'prepare':
        return await prepare(state, stage.kind);
      case 'resume':
        return await resume(state, stage.kind);
      case 'sign':
        return await sign(state, stage);
      case 'broadcast':
        return await broadcast(state, stage);
      case 'confirm':
        return await state.whileRetryable(() => confirm(state));
      case 'settle':
        return await settle(state);
      case 'abandon':
        return await abandon(state);
      case 'proveAgain':
        return await proveAgain(state);
      case 'failByProof':
        return await failByProof(state);
      case 'park':
        return await state.whileRetryable(() => waitForOperator(state, stage));
    }
  } catch (error) {
    if (!isActivityError(error) || isCancelled(error)) throw error;
    // without a row there is nothing to park: it would be retried forever
    if (stage.next === 'lock' || stage.next === 'park') throw error;
    const { code, message } = toProblem(error);
    return park(code, message, continueFromRows(state));
  }
}

/** Rejected and cancelled transfers complete the run; a FAILED transfer fails it, so that operators see it. */
function finish({ txId, progress }: TransferState, { status, code, reason }: TransferEnd): TransferWorkflowResult {
  progress.report('ended', [status, code, reason].filter(Boolean).join(' · '));
  progress.status(status, code);
  if (status !== 'FAILED') return { txId, status, code };
  throw ApplicationFailure.create({
    type: code ?? 'internal_error',
    nonRetryable: true,
    message: `${reason ?? 'The transfer failed'}. The amount is unlocked again; a new transfer can be made.`,
  });
}

import type { ChainObservation } from '../../src/messages/transfer';
import { isActivityError, isCancelled, toProblem } from '../failures';
import { chainSilent } from '../progress';
import { askChain } from './ask-chain';
import { continueFromRows, type Next, park } from './next';
import type { TransferState } from './state';

/**
 * This run begins with an attempt that it has no signatures of. An earlier run, or a node, may have sent it: what the chain has executed
 * is settled, and needs no approval, no list and no further order.
 */
export async function ask(state: TransferState): Promise<Next> {
  const { chain } = state.transfer;
  const advice = `**Asks ${chain} what became of attempt ${state.lastAttempt}** of an earlier run. If this stays, no worker of the chain runs: ${chainSilent}`;
  const detail = 'Begun by an earlier run: the chain is asked before anything is signed';
  state.progress.report('ask', detail, state.lastAttempt, advice);
  let seen: ChainObservation;
  try {
    seen = await askChain(state, (asked) => asked.observe({ txId: state.txId }));
  } catch (error) {
    if (!isActivityError(error) || isCancelled(error)) throw error;
    const { code, message } = toProblem(error);
    return park(code, `The chain could not be asked what became of attempt ${state.lastAttempt}: ${message}`, { next: 'ask' });
  }
  // impossible without a successor: whether the bytes are refused is the chain's answer to them, not that of a stored proof
  const isProven = seen.state === 'impossible' && (seen.ends || state.transfer.rules.expired !== 'park');
  if (seen.state === 'absent') return whenUnknown(state);
  if (seen.state === 'impossible' && !isProven) return continueFromRows(state);
  state.isFollowed = true;
  return seen.state === 'confirmed' ? { next: 'settle' } : { next: 'confirm' };
}

/** The chain knows none of its attempts. Waiting for what nobody has sent would only delay its cancellation. */
const whenUnknown = (state: TransferState): Next =>
  state.isAbandoned && state.transfer.rules.abandoned === 'cancel'
    ? { next: 'resume', kind: 'cancellation' }
    : continueFromRows(state);

import { patched } from '@temporalio/workflow';
import { type ChainObservation, maxReplacements } from '../../src/messages/transfer';
import { followChainWorkflowId } from '../../src/messages/workflow-ids';
import { chainSilent, runbook } from '../progress';
import { askChain } from './ask-chain';
import { type Next, park, parkForNow, parkRefused, parkStuck } from './next';
import type { TransferState } from './state';

/** Attempts on one reservation before an operator is asked. */
const attemptLimit = 1 + maxReplacements;

/** Follows the attempts until one is confirmed, something has to be done about them, or none can be executed any more. */
export async function confirm(state: TransferState): Promise<Next> {
  let isIncluded = false;
  for (;;) {
    if (state.isEnded) return { next: 'lock' };
    const seen = await nextStatus(state, isIncluded);
    isIncluded = seen.state === 'included';
    switch (seen.state) {
      case 'confirmed':
        return { next: 'settle' };
      case 'impossible':
        return whenImpossible(state, seen);
      case 'included':
        // a reorganisation may take it back: the time until it counts as stuck begins then
        state.waitingSince = Date.now();
        state.polls.reset();
        break;
      case 'absent':
      case 'pending':
        if (state.isOver) return { next: 'abandon' };
        // what is abandoned by time asks all the same: the authoriser has it pay more where the chain takes more than it offers
        if (!state.isTimed) state.followLine(seen.isBehind === true);
        // what it spends may come back; only the follower names an id here, of what a reorganisation has taken back
        if (seen.isUnfunded || (seen.state === 'absent' && seen.hash !== null)) state.waitingSince = Date.now();
        if (Date.now() - state.waitingSince > state.patienceMs) return whenStuck(state);
    }
    if (state.shouldContinueAsNew) return { next: 'confirm' };
  }
}

/**
 * The follower's message, or the chain's own answer when the follower is silent; a retry asks the chain at once. What is known to be in a block
 * has nothing done about it by time: it is waited for as long as its confirmation is expected to take.
 */
async function nextStatus(state: TransferState, isIncluded: boolean): Promise<ChainObservation> {
  const { requiredConfirmations, explorerTx } = state.transfer;
  reportWaiting(state);
  const limitMs = isIncluded ? Infinity : Math.min(state.patienceMs, state.timeLeftMs);
  const observed = await state.nextObservation(state.polls.next(limitMs));
  const seen = observed ?? (await askChain(state, (asked) => asked.observe({ txId: state.txId })));
  if (seen.state !== 'absent') {
    state.unsent = null;
    state.polls.calm();
  }
  const link = seen.hash && explorerTx?.replace('{hash}', seen.hash);
  const depth = `${seen.confirmations} of ${requiredConfirmations} confirmations`;
  state.shown = [seen.state, depth, link ?? seen.hash].filter(Boolean).join(' · ');
  reportWaiting(state);
  return seen;
}

/** Said during the whole wait: what the chain has shown last, and what comes by itself. */
function reportWaiting({ transfer, progress, shown, unsent, isTimed, isAbandoned, lastAttempt }: TransferState): void {
  const { requiredConfirmations, chain, rules, stuckAfterMs } = transfer;
  const otherwise = isAbandoned
    ? 'its end is waited for'
    : rules.stuck === 'replace'
      ? 'a higher fee is paid'
      : 'it is sent again';
  const untilThen =
    isAbandoned || isTimed
      ? 'or ends with its time'
      : `and ${unsent?.passing === 'price' ? otherwise : 'operators are told'} if that does not help`;
  const advice = [
    unsent
      ? `**No node of ${chain} has taken it yet**; it is sent again by itself, ${untilThen}: ${runbook('broadcast_rejected')}. Last answer: ${unsent.reason}.`
      : `**Waits for ${requiredConfirmations} confirmations** on ${chain}; nothing to do unless \`${followChainWorkflowId(chain)}\` reads no blocks: ${chainSilent}.`,
    shown && `Last seen: ${shown}.`,
    !shown.startsWith('included') && `In no block after ${Math.ceil(stuckAfterMs / 1000)} s, ${otherwise}.`,
  ];
  const detail = shown || `Waiting for ${requiredConfirmations} confirmations on ${chain}`;
  progress.report('confirm', detail, lastAttempt, advice.filter(Boolean).join(' '));
}

/** Not included in time: what is done about it is data of the chain's family. */
function whenStuck(state: TransferState): Next {
  const { rules } = state.transfer;
  state.waitingSince = Date.now();
  state.polls.reset();
  if (rules.stuck === 'rebroadcast') {
    // an abandoned one is only waited for: it expires
    if (state.isAbandoned) return { next: 'confirm' };
    const sent: Next = { next: 'broadcast', attempt: state.lastAttempt, tries: 2 };
    // before these bytes expire, or a node that is sent them again says no more than that it has seen them
    const isRefused =
      state.unsent !== null && state.unsent.passing !== 'price' && !state.isTimed && patched('refused-until-parked');
    return state.unsent && isRefused ? parkForNow('broadcast_rejected', state.unsent.reason, sent) : sent;
  }
  if (state.isAbandoned && rules.abandoned === 'expiry') return { next: 'confirm' };
  const again: Next = { next: 'broadcast', attempt: state.lastAttempt, tries: 1 };
  // for some minutes, then it is rejected
  if (state.unsent?.passing === 'unknown') return again;
  if (state.unsent?.passing === 'view' && !state.isTimed)
    return parkRefused(state, 'broadcast_rejected', state.unsent.reason, again);
  // those behind what is abandoned by time wait for its nonce: the authoriser limits its cancellations
  const isLimited = !(state.isTimed && state.isAbandoned);
  if (isLimited && state.lastAttempt >= attemptLimit)
    return parkStuck(state, `Not included in time after ${attemptLimit} attempts`);
  return { next: 'prepare', kind: state.isAbandoned ? 'cancellation' : 'replacement' };
}

/** No attempt can be executed any more, each with a stored proof. */
function whenImpossible({ isAbandoned, transfer }: TransferState, { ends, hash }: ChainObservation): Next {
  const { expired } = transfer.rules;
  if (isAbandoned || ends || expired === 'fail') return { next: 'failByProof' };
  if (expired === 'reissue') return { next: 'prepare', kind: 'reissue' };
  const reason = ['Another transaction has used up what this transfer spends', hash].filter(Boolean).join(': ');
  return park('stuck', reason, { next: 'confirm' }, { next: 'proveAgain' });
}

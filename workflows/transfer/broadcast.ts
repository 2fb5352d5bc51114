import type { AttemptSignatures, BroadcastResult } from '../../src/messages/transfer';
import { chainSilent, runbook } from '../progress';
import { askChain } from './ask-chain';
import { type Next, park, parkForNow } from './next';
import type { TransferState } from './state';

/**
 * The signed bytes are stored: sending them again is harmless, and only an accepted attempt counts as submitted. What every node refuses for
 * now is sent again by `confirm`. A chain node may refuse for good because an attempt was already executed, so the chain is asked before an
 * operator is. If an operator's retry is refused too, `confirm` replaces the attempt at current fees.
 */
export async function broadcast(state: TransferState, { attempt, tries }: Extract<Next, { next: 'broadcast' }>): Promise<Next> {
  return afterSending(state, await send(state, attempt), { attempt, tries });
}

/** One activity stores what was signed, sends it and makes the transfer SUBMITTED. `signed`: by the nodes just now. */
export function send(state: TransferState, attempt: number, signed?: AttemptSignatures): Promise<BroadcastResult> {
  const { progress, transfer, txId } = state;
  const advice = `**Sends attempt ${attempt}** to ${transfer.chain}. If this stays, no worker of the chain runs: start it, ${chainSilent}`;
  progress.report('broadcast', `Attempt ${attempt} is sent to ${transfer.chain}`, attempt, advice);
  return askChain(state, (chain) => chain.broadcast({ txId, attempt, ...(signed && { signed }) }));
}

export async function afterSending(
  state: TransferState,
  result: BroadcastResult,
  { attempt, tries }: { attempt: number; tries: number },
): Promise<Next> {
  const { txId, progress, unsent } = state;
  state.unsent = null;
  switch (result.outcome) {
    case 'accepted':
      progress.passed(result.status);
      return follow(state);
    case 'waiting': {
      const { reason, passing } = result;
      progress.report(
        'broadcast',
        reason,
        attempt,
        `**Not taken yet**, and sent again by itself: ${runbook('broadcast_rejected')}. ${reason}`,
      );
      if (passing) state.unsent = { reason, passing };
      // words that nobody knows may not be about what passes soon
      return follow(state, passing !== undefined && (passing !== 'unknown' || unsent?.passing !== 'unknown'));
    }
    case 'unsigned':
      return { next: 'resume', kind: result.kind };
    case 'withheld':
      return { next: 'abandon' };
    case 'blacklisted':
      if (attempt === 1) return { next: 'abandon' };
      return park('address_blacklisted', 'The destination was blacklisted before its replacement was sent', follow(state));
    case 'rejected': {
      const { reason, isUnknown } = result;
      const { state: seen, isUnfunded } = await askChain(state, (chain) => chain.observe({ txId }));
      if (seen !== 'absent' || isUnfunded) return follow(state);
      // the same bytes, however often: a higher fee may not be what is missing
      if (isUnknown) return parkForNow('broadcast_rejected', reason, { next: 'broadcast', attempt, tries });
      if (tries > 1) return follow(state);
      return park('broadcast_rejected', reason, { next: 'broadcast', attempt, tries: tries + 1 });
    }
  }
}

/** `isSoon`: no node has it yet, and the next poll sends it again. */
function follow(state: TransferState, isSoon = false): Next {
  state.isFollowed = true;
  state.shown = '';
  state.waitingSince = Date.now();
  if (isSoon) state.polls.hurry();
  else state.polls.reset();
  return { next: 'confirm' };
}

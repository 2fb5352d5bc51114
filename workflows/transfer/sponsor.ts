import { condition } from '@temporalio/workflow';
import { transferActivities } from '../activities';
import { chainSilent, runbook } from '../progress';
import { askChain } from './ask-chain';
import { endUnsigned } from './end-unsigned';
import type { Next } from './next';
import type { TransferState } from './state';

/** First and longest wait before the chain is asked again. */
const firstWaitMs = 250;
const longestWaitMs = 5_000;

/**
 * Before a settlement whose payer has signed an approval: the payer gets the coins that it lacks, from a transaction of the house that
 * has a workflow of its own, then its approval is sent. Both are found again by tx_id. It ends with the time of the settlement.
 */
export async function sponsor(state: TransferState): Promise<Next> {
  const { txId, progress, transfer } = state;
  progress.needsDatabase('sponsor', 'The approval of the payer comes first');
  const funding = await transferActivities.fundPayer({ txId });
  if (funding.outcome === 'refused') return endUnsigned(state);
  const asks = `**Asks ${transfer.chain} for the payer's approval.** If this stays, no worker of the chain runs: start it, ${chainSilent}`;
  progress.report('sponsor', `The approval of the payer on ${transfer.chain}`, 1, asks);
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
    if (state.isEnded || state.shouldContinueAsNew) return { next: 'lock' };
    const sent = await askChain(state, (chain) => chain.sendApproval({ txId }));
    if (sent.outcome === 'executed') return { next: 'prepare', kind: 'first' };
    if (sent.outcome === 'refused') return endUnsigned(state);
    const advice = `**Waits until ${transfer.chain} executes the payer's approval**, and ends with its time: \`gateway explain ${txId}\`, ${runbook('expired')}. ${sent.reason}`;
    progress.report('sponsor', sent.reason, 1, advice);
    await condition(() => state.isEnded, waitMs, { summary: 'then the chain is asked for the approval again' });
  }
}

import { patched } from '@temporalio/workflow';
import { transferActivities } from '../activities';
import { chainSilent } from '../progress';
import { askChain } from './ask-chain';
import { ended, type Next, park } from './next';
import type { TransferState } from './state';

/**
 * Abandons the transfer after signing has begun. A cancellation uses up the reservation; in families whose attempts expire, the
 * expiry is waited for. If an earlier attempt is executed after all, it is settled as usual.
 */
export async function abandon(state: TransferState): Promise<Next> {
  state.progress.needsDatabase('abandon', 'Abandoned: nothing but its end is waited for', state.lastAttempt);
  if (state.transfer.rules.abandoned === 'cancel') return { next: 'prepare', kind: 'cancellation' };
  await transferActivities.abandonTransfer({ txId: state.txId });
  state.isAbandoned = true;
  state.isFollowed = true;
  return { next: 'confirm' };
}

/**
 * An operator abandons a transfer of which every attempt has a stored proof. One endpoint alone may have shown it: every one that is configured
 * now has to show it again, since what is unlocked may be executed otherwise. What a block holds after all is settled.
 */
export async function proveAgain(run: TransferState): Promise<Next> {
  const { txId, progress, lastAttempt } = run;
  if (!patched('prove-again')) return { next: 'failByProof' };
  const advice = `**Asks every endpoint of ${run.transfer.chain} once more.** If this stays, no worker of the chain runs: start it, ${chainSilent}`;
  progress.report('proveAgain', 'Every endpoint is asked once more', lastAttempt, advice);
  const { state } = await askChain(run, (chain) => chain.observe({ txId, isAnew: true }));
  if (state === 'impossible') return { next: 'failByProof' };
  if (state === 'included' || state === 'confirmed') return { next: 'confirm' };
  const reason = `Not abandoned: not every endpoint of the chain shows any more that another transaction has used up what it spends (${state})`;
  return park('stuck', reason, { next: 'confirm' }, { next: 'proveAgain' });
}

/** Nothing that was signed can be executed any more, which is proven for every attempt: everything is unlocked. */
export async function failByProof({ txId, progress, lastAttempt }: TransferState): Promise<Next> {
  progress.needsDatabase('failByProof', 'Every attempt is proven impossible', lastAttempt);
  return ended(await transferActivities.failByProof({ txId }));
}

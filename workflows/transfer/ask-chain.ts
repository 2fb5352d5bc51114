import { patched } from '@temporalio/workflow';
import type { ChainActivities } from '../../src/messages/transfer';
import { chainActivities } from '../activities';
import { isGivenUp, toProblem } from '../failures';
import type { TransferState } from './state';

/** Calls before operators read that nothing answers: 7.5 s between them, and 20 s each at most. */
const untoldAttempts = 5;

/**
 * A step on the transfer's chain, which waits for a chain that is down. Once it has failed for some time the Temporal UI says so until it is
 * done: a run does nothing while it waits for an activity, so the first activity ends, and another one without a limit takes its place.
 */
export async function askChain<T>(state: TransferState, ask: (chain: ChainActivities) => Promise<T>): Promise<T> {
  const { chain } = state.transfer;
  try {
    return await ask(chainActivities(chain, untoldAttempts));
  } catch (error) {
    // a worker of an earlier release has gone on with the error
    if (!isGivenUp(error) || !patched('ask-chain-again')) throw error;
    state.progress.waitsForChain(chain, toProblem(error));
    return ask(chainActivities(chain));
  }
}

import type { FollowerActivities } from '../src/messages/following';
import type { ChainActivities } from '../src/messages/transfer';
import { broadcastAttempt } from '../src/transfers/broadcast';
import { observeTransfer } from '../src/transfers/observe';
import { prepareAttempt } from '../src/transfers/prepare';
import { createFollowActivity, type FollowDependencies } from './follow';

export type ChainActivityDependencies = FollowDependencies;

/** Steps that call a chain. All are safe to repeat: only the stored signed bytes are ever sent. */
export function createChainActivities(dependencies: ChainActivityDependencies): ChainActivities & FollowerActivities {
  return {
    ...createFollowActivity(dependencies),
    prepareAttempt: (input) => prepareAttempt(dependencies, input),
    broadcast: (input) => broadcastAttempt(dependencies, input),
    observe: (input) => observeTransfer(dependencies, input),
  };
}

import type { FollowerActivities } from '../src/messages/following';
import type { ChainActivities } from '../src/messages/transfer';
import { broadcastAttempt } from '../src/transfers/broadcast';
import { observeTransfer } from '../src/transfers/observe';
import { prepareAttempt } from '../src/transfers/prepare';
import { createFollowActivity, type FollowDependencies } from './follow';

export type ChainActivityDependencies = FollowDependencies;

/** Steps that talk to a chain. All are safe to repeat: the signed bytes on record are the only thing ever sent. */
export function createChainActivities(dependencies: ChainActivityDependencies): ChainActivities & FollowerActivities {
  return {
    ...createFollowActivity(dependencies),
    prepareAttempt: (input) => prepareAttempt(dependencies, input),
    broadcast: (input) => broadcastAttempt(dependencies, input),
    observe: (input) => observeTransfer(dependencies, input),
  };
}

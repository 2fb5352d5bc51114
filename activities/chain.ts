import type { FollowerActivities } from '../src/messages/following';
import type { ChainActivities } from '../src/messages/transfer';
import { getSignedType } from '../src/signed-types';
import { broadcastAttempt } from '../src/transfers/broadcast/broadcast';
import { observeTransfer } from '../src/transfers/confirm/observe';
import { prepareAttempt } from '../src/transfers/sign/prepare';
import { sendApproval } from '../src/x402/settlement/send-approval';
import { createFollowActivity, type FollowDependencies } from './follow';

/** The table of signed types is that of production unless a test has one of its own. */
export type ChainActivityOptions = Omit<FollowDependencies, 'getSignedType'> & Partial<Pick<FollowDependencies, 'getSignedType'>>;

/** Steps that call a chain. All are safe to repeat: only the stored signed bytes are ever sent. */
export function createChainActivities(options: ChainActivityOptions): ChainActivities & FollowerActivities {
  const dependencies: FollowDependencies = { getSignedType, ...options };
  return {
    ...createFollowActivity(dependencies),
    prepareAttempt: (input) => prepareAttempt(dependencies, input),
    broadcast: (input) => broadcastAttempt(dependencies, input),
    observe: (input) => observeTransfer(dependencies, input),
    sendApproval: (input) => sendApproval(dependencies, input),
  };
}

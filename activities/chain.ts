import { getFamily } from '../src/chains/families';
import type { FollowerActivities } from '../src/messages/following';
import type { ChainActivities } from '../src/messages/transfer';
import { ChainAlarms } from '../src/following/chain-alarms';
import { Alarms } from '../src/platform/alarms';
import { getSignedType } from '../src/signed-types';
import { type BroadcastDependencies, broadcastAttempt } from '../src/transfers/broadcast/broadcast';
import { observeTransfer } from '../src/transfers/confirm/observe';
import { prepareAttempt } from '../src/transfers/sign/prepare';
import { sendApproval } from '../src/x402/settlement/send-approval';
import { createFollowActivity, type FollowDependencies } from './follow';

type Dependencies = FollowDependencies & BroadcastDependencies;

/** The tables of families and types are those of production unless a test has its own. */
export type ChainActivityOptions = Omit<Dependencies, 'getFamily' | 'getSignedType' | 'alarms' | 'chainAlarms'> &
  Partial<Pick<Dependencies, 'getFamily' | 'getSignedType' | 'chainAlarms'>>;

/** Steps that call a chain. All are safe to repeat: only the stored signed bytes are ever sent. */
export function createChainActivities(options: ChainActivityOptions): ChainActivities & FollowerActivities {
  const { logger } = options;
  const alarms = { alarms: new Alarms(logger), chainAlarms: options.chainAlarms ?? new ChainAlarms(logger) };
  const dependencies: Dependencies = { getFamily, getSignedType, ...options, ...alarms };
  return {
    ...createFollowActivity(dependencies),
    prepareAttempt: (input) => prepareAttempt(dependencies, input),
    broadcast: (input) => broadcastAttempt(dependencies, input),
    observe: (input) => observeTransfer(dependencies, input),
    sendApproval: (input) => sendApproval(dependencies, input),
  };
}

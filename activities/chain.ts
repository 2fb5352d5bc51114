import { getFamily } from '../src/chains/families';
import type { ChainActivities } from '../src/messages/transfer';
import { Alarms } from '../src/platform/alarms';
import { getSignedType } from '../src/signed-types';
import { type BroadcastDependencies, broadcastAttempt } from '../src/transfers/broadcast/broadcast';
import { UnknownRefusals } from '../src/transfers/broadcast/unknown-refusal';
import { observeTransfer } from '../src/transfers/confirm/observe';
import type { ObserveDependencies } from '../src/transfers/dependencies';
import { prepareAttempt } from '../src/transfers/sign/prepare';
import { sendApproval } from '../src/x402/settlement/send-approval';

type Dependencies = ObserveDependencies & BroadcastDependencies;

/** The tables of families and types are those of production unless a test has its own. */
export type ChainActivityOptions = Omit<Dependencies, 'getFamily' | 'getSignedType' | 'alarms' | 'unknownRefusals'> &
  Partial<Pick<Dependencies, 'getFamily' | 'getSignedType'>>;

/** Steps that call a chain. All are safe to repeat: only the stored signed bytes are ever sent. */
export function createChainActivities(options: ChainActivityOptions): ChainActivities {
  const alarms = new Alarms(options.logger);
  const unknownRefusals = new UnknownRefusals(alarms);
  const dependencies: Dependencies = { getFamily, getSignedType, ...options, alarms, unknownRefusals };
  return {
    prepareAttempt: (input) => prepareAttempt(dependencies, input),
    broadcast: (input) => broadcastAttempt(dependencies, input),
    observe: (input) => observeTransfer(dependencies, input),
    sendApproval: (input) => sendApproval(dependencies, input),
  };
}

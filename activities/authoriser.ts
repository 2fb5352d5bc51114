import { orderAccountKey, orderAccountKeyBinding } from '../src/accounts/key-orders';
import type { AlertLog } from '../src/ledger/accounts';
import type { AuthoriserActivities } from '../src/messages/authoriser';
import { Alarms } from '../src/platform/alarms';
import { createLogger } from '../src/platform/logging';
import { orderBlacklistPage } from '../src/screening/distribution';
import { beginSigning } from '../src/transfers/sign/begin-signing';
import { getSignedType } from '../src/signed-types';
import type { AuthoriserDependencies } from '../src/transfers/dependencies';
import { recordNodeRefusals } from '../src/transfers/sign/node-refusals';
import { orderKeyBinding, orderKeyGeneration } from '../src/wallets/key-orders';
import { offerPooledKey, orderPooledKey, takePooledKey } from '../src/wallets/pooled-keys';

/** The table of signed types is that of production unless a test has one of its own; without `keyPoolSize` there is no pool of keys. */
export type AuthoriserActivityOptions = Omit<AuthoriserDependencies, 'alarms' | 'getSignedType'> &
  Partial<Pick<AuthoriserDependencies, 'getSignedType'>> & { log?: AlertLog; keyPoolSize?: number };

/** What the authoriser serves; errors are mapped by withMappedErrors where the process is wired. */
export function createAuthoriserActivities({
  log = createLogger('authoriser', 'error'),
  keyPoolSize = 0,
  ...options
}: AuthoriserActivityOptions): AuthoriserActivities {
  const dependencies: AuthoriserDependencies = { getSignedType, ...options, alarms: new Alarms(log) };
  return {
    beginSigning: (input) => beginSigning(dependencies, input),
    recordNodeRefusals: (input) => recordNodeRefusals(dependencies, input),
    orderKeyGeneration: (input) => orderKeyGeneration(dependencies, input),
    orderKeyBinding: (input) => orderKeyBinding(dependencies, input),
    orderPooledKey: (input) => orderPooledKey({ ...dependencies, keyPoolSize }, input),
    offerPooledKey: (input) => offerPooledKey(dependencies, input),
    takePooledKey: (input) => takePooledKey({ ...dependencies, keyPoolSize }, input),
    orderAccountKey: (input) => orderAccountKey(dependencies, input),
    orderAccountKeyBinding: (input) => orderAccountKeyBinding(dependencies, input),
    orderBlacklistPage: (input) => orderBlacklistPage(dependencies, input),
  };
}

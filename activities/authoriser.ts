import type { AlertLog } from '../src/ledger/accounts';
import type { AuthoriserActivities } from '../src/messages/authoriser';
import { createLogger } from '../src/platform/logging';
import { orderBlacklistPage } from '../src/screening/distribution';
import { AccountAlarms } from '../src/transfers/account-alarms';
import { beginSigning } from '../src/transfers/begin-signing';
import type { AuthoriserDependencies } from '../src/transfers/dependencies';
import { recordNodeRefusals } from '../src/transfers/node-refusals';
import { orderKeyBinding, orderKeyGeneration } from '../src/wallets/key-orders';

type AuthoriserActivityOptions = Omit<AuthoriserDependencies, 'alarms'> & { log?: AlertLog };

/** What the authoriser serves; errors are mapped by withMappedErrors where the process is wired. */
export function createAuthoriserActivities({
  log = createLogger('authoriser', 'error'),
  ...options
}: AuthoriserActivityOptions): AuthoriserActivities {
  const steps: AuthoriserDependencies = { ...options, alarms: new AccountAlarms(log) };
  return {
    beginSigning: (input) => beginSigning(steps, input),
    recordNodeRefusals: (input) => recordNodeRefusals(steps, input),
    orderKeyGeneration: (input) => orderKeyGeneration(steps, input),
    orderKeyBinding: (input) => orderKeyBinding(steps, input),
    orderBlacklistPage: (input) => orderBlacklistPage(steps, input),
  };
}

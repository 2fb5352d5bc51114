import type { AuthoriserActivities } from '../src/messages/authoriser';
import { orderBlacklistPage } from '../src/screening/distribution';
import { beginSigning } from '../src/transfers/begin-signing';
import type { AuthoriserDependencies } from '../src/transfers/dependencies';
import { recordNodeRefusals } from '../src/transfers/node-refusals';
import { orderKeyBinding, orderKeyGeneration } from '../src/wallets/key-orders';

/** What the authoriser serves; errors are mapped by withMappedErrors where the process is wired. */
export const createAuthoriserActivities = (dependencies: AuthoriserDependencies): AuthoriserActivities => ({
  beginSigning: (input) => beginSigning(dependencies, input),
  recordNodeRefusals: (input) => recordNodeRefusals(dependencies, input),
  orderKeyGeneration: (input) => orderKeyGeneration(dependencies, input),
  orderKeyBinding: (input) => orderKeyBinding(dependencies, input),
  orderBlacklistPage: (input) => orderBlacklistPage(dependencies, input),
});

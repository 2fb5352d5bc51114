import { getAdapter, getFeeStrategy } from '../src/chains/families';
import { createLogger } from '../src/platform/logging';
import { blacklistChanges } from '../src/screening/distribution';
import { screeningRules } from '../src/screening/rules';
import { activateWallet } from '../src/wallets/activate-wallet';
import { markAttention } from '../src/transfers/steps/attention';
import { beginSigning } from '../src/transfers/steps/begin-signing';
import type { StepDependencies } from '../src/transfers/steps/dependencies';
import { destinationBlacklisted } from '../src/transfers/steps/destination';
import { cancelTransfer, endTransfer } from '../src/transfers/steps/end';
import { lockTransfer } from '../src/transfers/steps/lock';
import { markSubmitted, recordSigned } from '../src/transfers/steps/record-signed';
import { screenTransfer } from '../src/transfers/steps/screen';
import { settleTransfer } from '../src/transfers/steps/settle';
import type { LedgerActivities } from '../src/messages/activities';

/** Everything but the database and the registry has the production's own default. */
export type LedgerActivityOptions = Pick<StepDependencies, 'database' | 'registry'> & Partial<StepDependencies>;

/** The database steps of a transfer; errors are mapped by withMappedErrors where the worker is wired. */
export function createLedgerActivities(options: LedgerActivityOptions): LedgerActivities {
  const steps: StepDependencies = {
    getAdapter: getAdapter,
    getFeeStrategy: getFeeStrategy,
    screeningRules: screeningRules(options.database),
    approvalWaitSeconds: 24 * 60 * 60,
    log: createLogger('ledger', 'error'),
    ...options,
  };
  return {
    lockTransfer: (request) => lockTransfer(steps, request),
    screenTransfer: (input) => screenTransfer(steps, input),
    endTransfer: (input) => endTransfer(steps, input),
    cancelTransfer: (input) => cancelTransfer(steps, input),
    destinationBlacklisted: ({ txId }) => destinationBlacklisted(options.database.manager, txId),
    beginSigning: (input) => beginSigning(steps, input),
    recordSigned: (input) => recordSigned(steps, input),
    markSubmitted: (input) => markSubmitted(steps, input),
    settleTransfer: (input) => settleTransfer(steps, input),
    markAttention: (input) => markAttention(steps, input),
    blacklistChanges: (input) => blacklistChanges(options.database.manager, input),
    activateWallet: (input) => activateWallet(steps, input),
  };
}

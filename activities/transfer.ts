import { getFamily } from '../src/chains/families';
import { createLogger } from '../src/platform/logging';
import { getSignedType } from '../src/signed-types';
import { adoptHold } from '../src/transfers/start/adopt-hold';
import { adoptReopened, reportNotCancelled } from '../src/transfers/reopened';
import { abandonTransfer } from '../src/transfers/operate/abandon';
import { recordOperatorAct } from '../src/transfers/operate/operator-acts';
import { parkTransfer } from '../src/transfers/operate/park';
import { readTurn } from '../src/transfers/sign/read-turn';
import type { TransferDependencies } from '../src/transfers/dependencies';
import { destinationBlacklisted } from '../src/transfers/destination';
import { endTransfer, failByProof } from '../src/transfers/end/end';
import { screenTransfer } from '../src/transfers/screen/screen';
import { settleTransfer } from '../src/transfers/end/settle';
import type { TransferActivities } from '../src/messages/transfer';
import { fundPayer } from '../src/x402/settlement/fund-payer';

/** The tables of families and types are those of production unless a test has its own. */
export type TransferActivityOptions = Pick<TransferDependencies, 'database' | 'registry' | 'approvalWaitSeconds'> &
  Partial<TransferDependencies>;

/** The database steps of a transfer; the worker maps errors with withMappedErrors. */
export function createTransferActivities(options: TransferActivityOptions): TransferActivities {
  const steps: TransferDependencies = {
    getFamily,
    getSignedType,
    log: createLogger('ledger', 'error'),
    ...options,
  };
  return {
    adoptHold: (input) => adoptHold(steps, input),
    adoptReopened: (input) => adoptReopened(steps, input),
    reportNotCancelled: (input) => reportNotCancelled(steps, input),
    screenTransfer: (input) => screenTransfer(steps, input),
    endTransfer: (input) => endTransfer(steps, input),
    destinationBlacklisted: ({ txId }) => destinationBlacklisted(options.database.manager, txId),
    settleTransfer: (input) => settleTransfer(steps, input),
    abandonTransfer: (input) => abandonTransfer(steps, input),
    failByProof: (input) => failByProof(steps, input),
    parkTransfer: (input) => parkTransfer(steps, input),
    readTurn: (input) => readTurn(steps, input),
    recordOperatorAct: (input) => recordOperatorAct(steps, input),
    fundPayer: (input) => fundPayer(steps, input),
  };
}

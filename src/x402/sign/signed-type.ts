import { toPayment } from '../../transactions/intent';
import type { SignedType } from '../../transactions/signed-type';
import { assertMayBegin, assertMayContinue } from '../../transfers/may-sign';
import { getAccount } from '../../transfers/signers';
import { findDifference, loadAction, rebuildAuthorisation } from './stored';

/**
 * A client's payment that it authorises and somebody else sends: held, screened and approved like a transfer. It ends with the block that
 * has carried it out, or once a final block is later than its last second.
 */
export const authorisation: SignedType = {
  orderKind: 'typed_data',
  // nothing can replace or cancel what is signed: its expiry is waited for
  rules: { stuck: 'rebroadcast', expired: 'fail', giveUp: 'expiry' },
  isHandedOut: true,
  loadIntent: async (manager, transaction) => ({
    ...toPayment(transaction),
    action: await loadAction(manager, transaction.txId),
  }),
  findSigner: getAccount,
  assertMayBegin,
  assertMayContinue,
  timeLeft: () => Promise.resolve(null),
  findDifference,
  rebuild: rebuildAuthorisation,
};

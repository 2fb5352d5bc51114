import { toPayment } from '../../transactions/intent';
import type { SignedType } from '../../transactions/signed-type';
import { assertMayBegin, assertMayContinue } from '../../transfers/sign/may-sign';
import { refuse } from '../../transfers/sign/not-begun';
import { getAccount } from '../../transfers/sign/signers';
import { authorisationTimeLeft, findDifference, loadAction, rebuildAuthorisation } from './stored';

/** A signature that is made later is of no use. */
const minLeftMs = 2_000;

/**
 * A client's payment that it authorises and somebody else sends: held, screened and approved like a transfer. It ends with the block that
 * has carried it out, or once a final block is later than its last second.
 */
export const authorisation: SignedType = {
  orderKind: 'typed_data',
  // nothing can replace or cancel what is signed: its expiry is waited for
  rules: { stuck: 'rebroadcast', expired: 'fail', abandoned: 'expiry' },
  isHandedOut: true,
  loadIntent: async (manager, transaction) => ({
    ...toPayment(transaction),
    action: await loadAction(manager, transaction.txId),
  }),
  findSigner: getAccount,
  assertMayBegin,
  assertMayContinue: async (manager, transaction) => {
    const left = await authorisationTimeLeft(manager, transaction.txId);
    if (left !== null && left <= minLeftMs) refuse('expired', 'Nobody could carry it out in the time that is left');
    await assertMayContinue(manager, transaction);
  },
  timeLeft: (manager, { txId }) => authorisationTimeLeft(manager, txId),
  findDifference,
  rebuild: rebuildAuthorisation,
};

import type { SignedType } from '../../transactions/signed-type';
import { toPayment } from '../../transactions/intent';
import { assertMayBegin, assertMayContinue } from './may-sign';
import { getAccount } from './signers';

/** A payment of a client from an account of its own. */
export const outbound: SignedType = {
  orderKind: 'transfer',
  loadIntent: (_manager, transfer) => Promise.resolve(toPayment(transfer)),
  findSigner: getAccount,
  assertMayBegin,
  assertMayContinue,
  timeLeft: () => Promise.resolve(null),
};

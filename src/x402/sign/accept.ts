import { authorisationType } from '../../transactions/types';
import { type Acceptance, type AcceptDependencies, acceptParsed } from '../../transfers/accept/accept';
import type { AcceptedKind } from '../../transfers/accept/accepted-kind';
import { toPaymentRefusal } from './refusal';
import type { ParsedPayment } from './request';
import { isSameAuthorisation, storeAuthorisation } from './stored';

/**
 * Accepts a payment like a transfer: it is held, audited, and its workflow is to be started.
 * @throws GatewayError as acceptTransfer, with the fields of POST /x402/sign
 */
export const acceptPayment = (deps: AcceptDependencies, payment: ParsedPayment): Promise<Acceptance> =>
  acceptParsed(deps, payment.parsed, toKind(payment)).catch((error: unknown) => {
    throw toPaymentRefusal(error);
  });

/** Whoever carries it out pays the fee: none is held. */
const toKind = (payment: ParsedPayment): AcceptedKind => ({
  transactionType: authorisationType,
  action: 'payment.accepted',
  boundFee: () => Promise.resolve(0n),
  store: (manager, txId) => storeAuthorisation(manager, txId, payment),
  isSame: (manager, txId) => isSameAuthorisation(manager, txId, payment),
});

import { toHex } from '../../../platform/hex';
import type { PaymentReason } from '../../payment-reasons';
import type {
  AgreedField,
  Checked,
  Payment,
  PaymentContext,
  PaymentMethod,
  PaymentRequest,
  SettlementFailure,
} from '../../payments';
import { fromBase58, toBase58 } from '../codec/base58';
import { messageHash } from '../codec/message-hash';
import { authorisationOf, withoutSettler } from '../codec/settlement';
import { type OfferedTransfer, otherReason, othersOf, readLayout } from './layout';
import { maxLifeSeconds } from './limits';
import { type OfferedTransaction, readOffered } from './offered';
import { isByPayer, isolationReason, signersReason } from './signers';
import { memoOf, partyReason, readTerms, type Terms, transferReason } from './terms';

/** Named as the official package names the same difference in what the payer has signed. */
const disagreements: Record<AgreedField, PaymentReason> = {
  scheme: 'invalid_exact_svm_unsupported_scheme',
  network: 'invalid_exact_svm_network_mismatch',
  asset: 'invalid_exact_svm_payload_mint_mismatch',
  payTo: 'invalid_exact_svm_payload_recipient_mismatch',
  amount: 'invalid_exact_svm_payload_amount_mismatch',
};

const notManaged: PaymentReason = 'invalid_exact_svm_fee_payer_not_managed_by_facilitator';

const failures: Record<SettlementFailure, PaymentReason> = {
  expired: 'invalid_exact_svm_transaction_failed',
  refused: 'invalid_exact_svm_transaction_simulation_failed',
  reverted: 'invalid_exact_svm_transaction_failed',
  unobserved: 'post_settlement_transfer_not_confirmed',
};

/**
 * The payer makes and signs the whole transaction, which names a settler as fee payer; it is executed once that settler has signed it
 * too (specification of the protocol, scheme exact on SVM).
 */
export const signedTransaction: PaymentMethod = {
  payloadType: 'transaction',
  schemes: ['exact'],
  settlementMethod: () => 'transaction',
  disagreement: (_scheme, field) => disagreements[field],
  // Base58 has one form of an address
  normalise: (text) => text,
  identify: ({ payload, extra }) => {
    const offered = readOffered(payload.transaction);
    if (!('transaction' in offered)) return null;
    const { message, instructions } = offered.transaction;
    const hash = messageHash(message);
    const memo = memoOf(extra);
    const hasMemo = otherReason(othersOf(instructions), memo) === null;
    // whoever asks for the memo of another order asks for another payment
    return {
      identity: hash,
      signed: memo === null ? hash : `${hash} ${memo}`,
      authorisation: hasMemo ? authorisationOf(offered.transaction) : null,
    };
  },
  named: { exact: { field: 'feePayer', refusal: notManaged } },
  failures: { exact: failures, upto: failures },
  check,
};

const refuse = (reason: PaymentReason): { reason: PaymentReason } => ({ reason });

/** In the order of the official package; what only this gateway refuses comes last. */
function check(request: PaymentRequest, context: PaymentContext): Checked {
  const { feePayer } = request.extra;
  if (typeof feePayer !== 'string' || feePayer === '') return refuse('invalid_exact_svm_payload_missing_fee_payer');
  const settler = fromBase58(feePayer, 32);
  if (!settler || !context.settlers.has(settler.toString('hex'))) return refuse(notManaged);
  const offered = readOffered(request.payload.transaction);
  if (!('transaction' in offered)) return refuse(unreadReason(offered.refused, request.version));
  const { transaction } = offered;
  const unsigned = signersReason(transaction, settler);
  if (unsigned) return refuse(unsigned);
  const layout = readLayout(transaction.instructions, request.version);
  if ('reason' in layout) return layout;
  const { transfer } = layout;
  if (context.settlers.has(transfer.authority.toString('hex')))
    return refuse('invalid_exact_svm_payload_transaction_fee_payer_transferring_funds');
  // the chain refuses it too, unless a group of signers is the owner
  if (!isByPayer(transaction, transfer)) return refuse('invalid_exact_svm_transaction_simulation_failed');
  const terms = readTerms(request);
  if (!terms) return refuse('invalid_payment_requirements');
  const reason =
    transferReason(transfer, terms) ??
    otherReason(othersOf(transaction.instructions), terms.memo) ??
    isolationReason(transaction, settler) ??
    partyReason(transfer, terms, context);
  return reason ? refuse(reason) : { payment: toPayment(request, context, { transaction, transfer, terms, feePayer }) };
}

/** Version 1 has no lookup tables. */
const unreadReason = (refused: 'tables' | 'malformed', version: 1 | 2): PaymentReason =>
  refused === 'tables' && version === 2
    ? 'invalid_exact_svm_smart_wallet_alt_resolution_not_available'
    : 'invalid_exact_svm_payload_transaction_could_not_be_decoded';

interface Good {
  transaction: OfferedTransaction;
  transfer: OfferedTransfer;
  terms: Terms;
  feePayer: string;
}

function toPayment(
  { chain }: PaymentRequest,
  { now }: PaymentContext,
  { transaction, transfer, terms, feePayer }: Good,
): Payment {
  const identity = messageHash(transaction.message);
  const lastSecond = BigInt(now + maxLifeSeconds);
  return {
    method: 'transaction',
    ...{ chain, token: terms.token, payTo: terms.payTo, payer: toBase58(transfer.authority) },
    ...{ authorised: transfer.amount, amount: transfer.amount },
    ...{ identity, nonce: identity },
    ...{ validAfter: 0n, validBefore: lastSecond, lastSecond },
    signature: toHex(withoutSettler(transaction)),
    ...{ isWrapped: false, domain: null, facilitator: feePayer, sponsoring: { type: 'none' } },
  };
}

import type { Address } from 'viem';
import type { PaymentReason } from '../../payment-reasons';
import type {
  Checked,
  Payment,
  PaymentContext,
  PaymentMethod,
  PaymentRequest,
  PaymentScheme,
  SettlementMethod,
} from '../../payments';
import type { JsonObject } from '../../types';
import { exactPermitDisagreements, normalise, uptoPermitDisagreements } from './agreement';
import { exactProxyAddress, uptoProxyAddress } from './contracts';
import { exactPermitFailures, uptoPermitFailures } from './failures';
import { asObject, isZero, minSecondsLeft, readAddress, readSignature, readUint, refuse, unwrap } from './fields';
import { authorisationOf, permitIdentity } from './identity';
import { readSponsoring } from './sponsoring';
import { ownPartyReason, readTerms, type Terms } from './terms';
import type { PermitTransfer } from './typed-data';

/** Permit2 takes a signed permit whose only spender is an x402 proxy; the proxy pays nobody but the recipient in its witness. */
export const permit2: PaymentMethod = {
  payloadType: 'permit2',
  schemes: ['exact', 'upto'],
  settlementMethod,
  disagreement: (scheme, field) => (scheme === 'upto' ? uptoPermitDisagreements : exactPermitDisagreements)[field],
  normalise,
  identify: (request) => {
    const read = readPermit(request);
    if ('reason' in read) return null;
    const { from, permitted, spender, nonce, deadline, witness } = read.permit;
    const signed = [from, permitted.token, permitted.amount, spender, nonce, deadline];
    return {
      identity: permitIdentity(from, nonce),
      signed: [...signed, witness.to, witness.facilitator, witness.validAfter].join(),
      authorisation: toAuthorisation(read, request.scheme),
    };
  },
  named: { upto: { field: 'facilitatorAddress', refusal: 'upto_facilitator_mismatch' } },
  failures: { exact: exactPermitFailures, upto: uptoPermitFailures },
  check,
};

type Permit = PermitTransfer & { from: Address };

function toAuthorisation(
  { signature: text, permit: { from, permitted, spender, nonce, deadline, witness } }: { signature: string; permit: Permit },
  scheme: PaymentScheme,
): string | null {
  const signature = readSignature(text);
  if (!signature || spender !== spenderOf(scheme)) return null;
  const { to: payTo, facilitator, validAfter } = witness;
  const payment = { method: settlementMethod(scheme), payer: from, payTo, authorised: permitted.amount, validAfter } as const;
  return authorisationOf({ ...payment, nonce: nonce.toString(), validBefore: deadline, signature, facilitator }, permitted.token);
}

const spenderOf = (scheme: PaymentScheme): Address => (scheme === 'upto' ? uptoProxyAddress : exactProxyAddress);

function settlementMethod(scheme: PaymentScheme): SettlementMethod {
  return scheme === 'upto' ? 'permit2_upto' : 'permit2_exact';
}

function check(request: PaymentRequest, context: PaymentContext): Checked {
  const signed = readPermit(request);
  if ('reason' in signed) return signed;
  const { permit } = signed;
  const terms = readTerms(request);
  if (!terms) return refuse('invalid_payment_requirements');
  const reason = permitReason(permit, terms, request, context);
  if (reason) return refuse(reason);
  const signature = readSignature(signed.signature);
  // Permit2 asks the owner's contract, and a wallet that does not exist yet cannot answer
  if (!signature || unwrap(signature)?.creation !== null) return refuse('invalid_permit2_signature');
  const sponsoring = readSponsoring(
    request,
    { payer: permit.from, token: terms.contract, amount: permit.permitted.amount },
    context,
  );
  if ('reason' in sponsoring) return sponsoring;
  return { payment: { ...toPayment(permit, terms, request), signature, sponsoring } };
}

function toPayment(
  { from: payer, permitted, nonce, deadline, witness }: Permit,
  { token, payTo }: Terms,
  { chain, scheme, settlementAmount }: PaymentRequest,
): Omit<Payment, 'signature' | 'sponsoring'> {
  const isUpto = scheme === 'upto';
  return {
    method: settlementMethod(scheme),
    chain,
    token,
    payer,
    payTo,
    authorised: permitted.amount,
    amount: isUpto ? (settlementAmount ?? permitted.amount) : permitted.amount,
    identity: permitIdentity(payer, nonce),
    nonce: nonce.toString(),
    validAfter: witness.validAfter,
    validBefore: deadline,
    lastSecond: deadline,
    isWrapped: false,
    domain: null,
    facilitator: witness.facilitator,
  };
}

/** The fields of the permit; a facilitator is read for upto only, since an exact witness has none. */
function readPermit({ payload, scheme }: PaymentRequest): { signature: string; permit: Permit } | { reason: PaymentReason } {
  const fields = asObject(payload.permit2Authorization);
  const permitted = asObject(fields?.permitted);
  const witness = asObject(fields?.witness);
  if (!fields || !permitted || !witness || typeof payload.signature !== 'string') return refuse('invalid_payload');
  if (scheme === 'upto' && typeof witness.facilitator !== 'string') return refuse('unsupported_payload_type');
  const permit = toPermit(fields, permitted, witness, scheme === 'upto');
  return permit ? { signature: payload.signature, permit } : refuse('invalid_payload');
}

function toPermit(fields: JsonObject, permitted: JsonObject, witness: JsonObject, isUpto: boolean): Permit | null {
  const [from, spender] = [readAddress(fields.from), readAddress(fields.spender)];
  const [token, to] = [readAddress(permitted.token), readAddress(witness.to)];
  const facilitator = isUpto ? readAddress(witness.facilitator) : null;
  const [amount, validAfter] = [readUint(permitted.amount), readUint(witness.validAfter)];
  const [nonce, deadline] = [readUint(fields.nonce), readUint(fields.deadline)];
  if (!from || !spender || !token || !to || (isUpto && !facilitator)) return null;
  if (amount === null || validAfter === null || nonce === null || deadline === null) return null;
  return { from, permitted: { token, amount }, spender, nonce, deadline, witness: { to, facilitator, validAfter } };
}

/** In the order of the official package. */
function permitReason(
  { from, permitted, spender, deadline, witness }: Permit,
  { contract, payTo }: Terms,
  { scheme, amount, settlementAmount }: PaymentRequest,
  context: PaymentContext,
): PaymentReason | null {
  const { now, settlers } = context;
  if (spender !== spenderOf(scheme)) return 'invalid_permit2_spender';
  if (witness.to !== payTo) return 'invalid_permit2_recipient_mismatch';
  if (witness.facilitator !== null && !settlers.has(witness.facilitator.toLowerCase())) return 'upto_facilitator_mismatch';
  if (deadline < BigInt(now + minSecondsLeft)) return 'permit2_deadline_expired';
  if (witness.validAfter > BigInt(now)) return 'permit2_not_yet_valid';
  if (permitted.amount !== amount) return 'permit2_amount_mismatch';
  if (permitted.token !== contract) return 'permit2_token_mismatch';
  if (permitted.amount === 0n) return 'permit2_invalid_amount';
  if (isZero(from)) return 'permit2_invalid_owner';
  if (settlementAmount !== null && settlementAmount > permitted.amount)
    return 'invalid_upto_evm_payload_settlement_exceeds_amount';
  return ownPartyReason(from, payTo, context);
}

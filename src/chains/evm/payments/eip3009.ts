import type { PaymentReason } from '../../payment-reasons';
import type { Checked, PaymentContext, PaymentMethod, PaymentRequest, Sponsoring } from '../../payments';
import type { JsonObject, TokenDefinition } from '../../types';
import { authorizationDisagreements, normalise } from './agreement';
import { authorizationFailures } from './failures';
import {
  asObject,
  minSecondsLeft,
  readAddress,
  readBytes32,
  readSignature,
  readUint,
  refuse,
  unwrap,
  type Unwrapped,
} from './fields';
import { authorisationOf, authorizationIdentity } from './identity';
import { ownPartyReason, readTerms } from './terms';
import type { Authorization } from './typed-data';

/** The token itself takes a signed authorisation (transferWithAuthorization). */
export const eip3009: PaymentMethod = {
  payloadType: 'eip3009',
  schemes: ['exact'],
  settlementMethod: () => 'eip3009',
  disagreement: (_scheme, field) => authorizationDisagreements[field],
  normalise,
  identify: (request) => {
    const read = readAuthorization(request.payload);
    const contract = readTerms(request)?.contract;
    if (!read || !contract) return null;
    const { from, to, value, validAfter, validBefore, nonce } = read.authorization;
    const wrapped = readSignature(read.signature);
    const signature = wrapped && unwrap(wrapped)?.signature;
    const payment = { method: 'eip3009', payer: from, payTo: to, authorised: value, nonce, validAfter, validBefore } as const;
    return {
      identity: authorizationIdentity(contract, from, nonce),
      signed: [from, to, value, validAfter, validBefore, nonce].join(),
      authorisation: signature ? authorisationOf({ ...payment, signature, facilitator: null }, contract) : null,
    };
  },
  failures: { exact: authorizationFailures, upto: authorizationFailures },
  check,
};

function check(request: PaymentRequest, context: PaymentContext): Checked {
  const signed = readAuthorization(request.payload);
  if (!signed) return refuse('invalid_payload');
  const { signature: text, authorization } = signed;
  const terms = readTerms(request);
  const domain = readDomain(request.extra, terms?.token);
  if (!domain) return refuse('invalid_exact_evm_missing_eip712_domain');
  if (!terms) return refuse('invalid_payment_requirements');
  const { token, contract, payTo } = terms;
  const { from: payer } = authorization;
  const signature = readSignature(text);
  if (!signature) return refuse('invalid_exact_evm_signature');
  const unwrapped = unwrap(signature);
  if (!unwrapped) return refuse('invalid_exact_evm_failed_to_parse_signature');
  const reason =
    ownPartyReason(payer, payTo, context) ??
    authorizationReason(authorization, payTo, request, context) ??
    tokenReason(token, domain);
  if (reason) return refuse(reason);
  const { value, nonce, validAfter, validBefore } = authorization;
  return {
    payment: {
      method: 'eip3009',
      chain: request.chain,
      token,
      payer,
      payTo,
      authorised: value,
      amount: value,
      identity: authorizationIdentity(contract, payer, nonce),
      nonce,
      validAfter,
      validBefore,
      lastSecond: validBefore - 1n,
      signature: unwrapped.signature,
      isWrapped: unwrapped.creation !== null,
      domain,
      facilitator: null,
      sponsoring: toDeployment(unwrapped, context),
    },
  };
}

/** By a factory of the client's list; a wallet of another one has to exist. */
function toDeployment({ creation }: Unwrapped, { walletFactories }: PaymentContext): Sponsoring {
  const factory = creation?.factory.toLowerCase();
  return creation && factory && walletFactories.has(factory)
    ? { type: 'deployment', factory, data: creation.data }
    : { type: 'none' };
}

function readAuthorization(payload: JsonObject): { signature: string; authorization: Authorization } | null {
  const fields = asObject(payload.authorization);
  if (!fields || typeof payload.signature !== 'string') return null;
  const [from, to] = [readAddress(fields.from), readAddress(fields.to)];
  const [value, validAfter, validBefore] = [readUint(fields.value), readUint(fields.validAfter), readUint(fields.validBefore)];
  const nonce = readBytes32(fields.nonce);
  if (!from || !to || value === null || validAfter === null || validBefore === null || !nonce) return null;
  return { signature: payload.signature, authorization: { from, to, value, validAfter, validBefore, nonce } };
}

type Domain = NonNullable<TokenDefinition['domain']>;

/** As the resource server says; that of the registry where it says nothing. null: half of it, or nobody knows it. */
function readDomain({ name, version }: JsonObject, token: TokenDefinition | undefined): Domain | null {
  const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === '';
  if (isAbsent(name) && isAbsent(version)) return token?.domain ?? null;
  return typeof name === 'string' && typeof version === 'string' && name && version ? { name, version } : null;
}

/** In the order of the official package. */
function authorizationReason(
  { to, value, validAfter, validBefore }: Authorization,
  payTo: string,
  { version, amount }: PaymentRequest,
  { now }: PaymentContext,
): PaymentReason | null {
  if (to !== payTo) return 'invalid_exact_evm_recipient_mismatch';
  if (validBefore < BigInt(now + minSecondsLeft)) return 'invalid_exact_evm_payload_authorization_valid_before';
  if (validAfter > BigInt(now)) return 'invalid_exact_evm_payload_authorization_valid_after';
  if (value !== amount)
    return version === 1 ? 'invalid_exact_evm_authorization_value' : 'invalid_exact_evm_payload_authorization_value_mismatch';
  // nothing is bought for nothing, and the fee would be the gateway's
  return value === 0n ? 'invalid_payment_requirements' : null;
}

/**
 * The chain compares the signature with the token's own domain, so a wrong one in the requirements would not be noticed there: the
 * signature of a payer who was told the wrong domain fails, that of one who knows better does not.
 */
function tokenReason({ takesAuthorisations, domain }: TokenDefinition, { name, version }: Domain): PaymentReason | null {
  if (!takesAuthorisations) return 'invalid_exact_evm_eip3009_not_supported';
  if (domain && domain.name !== name) return 'invalid_exact_evm_token_name_mismatch';
  return domain && domain.version !== version ? 'invalid_exact_evm_token_version_mismatch' : null;
}

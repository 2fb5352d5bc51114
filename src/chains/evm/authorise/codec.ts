import { concat, getAddress, numberToHex } from 'viem';
import type { SigningPayload, TransactionPlan } from '../../family';
import type { AuthorisationAction, Hex, Prepared, TransactionDescription } from '../../types';
import { parseChainId, toCaip2 } from '../chain-id';
import { evmAddress } from '../codec/address';
import { getPayment } from '../codec/payment';
import { readKeySignature } from '../codec/signature';
import { permit2Address } from '../payments/contracts';
import { type Authorisation, lastSecond, nonceBytes, readAuthorisation, toIdentity, toMethod, writeAuthorisation } from './bytes';
import { findAuthorisationDetails, toPreparedAuthorisation, validSinceSeconds } from './details';
import { toDigests } from './digests';

const allowances = 'permit2/';

/** A payment that an account authorises, as the bytes of an attempt: EIP-712 messages, which are signed and not sent. */

/** @throws Error for a plan that readAuthorisation would refuse, or that spends something else than is reserved. */
export function buildAuthorisation({ chain, intent, kind, prepared, resources }: TransactionPlan): Hex {
  const { action, from } = intent;
  const { recipient, tokenContract, amount } = getPayment(intent);
  const details = findAuthorisationDetails(prepared);
  if (action?.type !== 'authorisation' || kind !== 'first') throw new Error('a payment is authorised once');
  if (prepared.feeBound !== '0') throw new Error('whoever carries a payment out pays the fee');
  if (tokenContract === null || !details) throw new Error('a payment of a token is authorised, once its times are known');
  const { facilitator, nonce, domain } = action;
  const method = toMethod(action.method);
  const { validAfter, validBefore, permitNonce } = details;
  const unsigned = writeAuthorisation({
    ...{ chainId: parseChainId(chain), method, value: amount, nonce: BigInt(nonce), validAfter, validBefore, permitNonce },
    ...{ token: getAddress(tokenContract), from: getAddress(from), to: getAddress(recipient) },
    domain: method === 'eip3009' || permitNonce !== null ? domain : null,
    facilitator: facilitator === null ? null : getAddress(facilitator),
  });
  const used = describeAuthorisation(unsigned).resources;
  if (used.length !== resources.length || used[0] !== resources[0]) throw new Error('what it spends is not what is reserved');
  return unsigned;
}

/** What the bytes were built from, beside the intent. */
export const recoverAuthorisation = (unsigned: Hex): Prepared => toPreparedAuthorisation(readAuthorisation(unsigned));

/** @throws Error on bytes that this gateway would never build. */
export function describeAuthorisation(unsigned: Hex): TransactionDescription {
  const it = readAuthorisation(unsigned);
  const { chainId, method, token, to, value, facilitator, nonce } = it;
  return {
    chain: toCaip2(chainId),
    action: 'authorisation',
    outputs: [{ recipient: to, tokenContract: token, amount: value }],
    authorisation: {
      ...{ method, identity: toIdentity(it), facilitator, action: toAction(it) },
      contract: method === 'eip3009' ? token : permit2Address,
    },
    maxNetworkFee: 0n,
    expiresAt: Number(lastSecond(it)),
    resources: method === 'eip3009' ? [] : [allowanceResource(token, nonce)],
  };
}

const toAction = ({
  method,
  nonce,
  validAfter,
  validBefore,
  facilitator,
  domain,
  permitNonce,
}: Authorisation): AuthorisationAction => ({
  ...{ type: 'authorisation', method, facilitator, domain },
  ...{
    nonce: nonceBytes(nonce),
    seconds: Number(validBefore - validAfter - validSinceSeconds),
    withAllowance: permitNonce !== null,
  },
});

/**
 * Permit2 moves what the owner has allowed it of a token, whichever payment that was meant for; a permit (EIP-2612) does not add to the
 * allowance but replaces it, and uses up a nonce of the owner's. So one payment at a time relies on it. Begins the resource of each.
 */
export const allowancePrefix = (token: string): string => `${allowances}${token.toLowerCase()}/`;

/** With the payment's own nonce, since what was reserved and is used up stays reserved. */
export const allowanceResource = (token: string, nonce: bigint): string => `${allowancePrefix(token)}${nonce}`;

export const isAllowance = (resource: string): boolean => resource.startsWith(allowances);

/** The payment, then the permit if there is one. @throws Error when the bytes are of another account. */
export function authorisationPayloads(unsigned: Hex, from: string): SigningPayload[] {
  const authorisation = readAuthorisation(unsigned);
  const signer = evmAddress(from).key;
  if (signer !== authorisation.from.toLowerCase()) throw new Error('another account authorises the payment');
  return toDigests(authorisation).map((digest) => ({ signer, digest }));
}

/**
 * The signatures as contracts take them: r, s and v of 27 or 28, one after the other. The id is the digest of the payment.
 * @throws Error unless each is the account's.
 */
export function assembleAuthorisation(unsigned: Hex, signatures: Hex[], from: string): { id: string; bytes: Hex } {
  const payloads = authorisationPayloads(unsigned, from);
  const [payment] = payloads;
  if (!payment || signatures.length !== payloads.length) throw new Error(`${payloads.length} signatures are needed`);
  const signed = payloads.map(({ digest, signer }, index) => {
    const { r, s, yParity } = readKeySignature(signatures[index], digest, signer);
    return concat([r, s, numberToHex(27 + yParity)]);
  });
  return { id: payment.digest, bytes: concat(signed) };
}

/** Names a payment, whoever carries it out and whatever its signature. */
export const authorisationKey = (identity: string): string => `authorisation:${identity}`;

export const authorisationKeyOf = (unsigned: Hex): string => authorisationKey(toIdentity(readAuthorisation(unsigned)));

import { type Address, concat, decodeAbiParameters, encodeAbiParameters, numberToHex, size, slice, zeroAddress } from 'viem';
import type { SettlementMethod } from '../../payments';
import type { Hex } from '../../types';
import { isZero } from '../payments/fields';
import { authorizationIdentity, permitIdentity } from '../payments/identity';

/** A payment that an account authorises, for somebody else to carry out. Amounts in atomic units, times in seconds since the epoch. */
export interface Authorisation {
  chainId: number;
  method: SettlementMethod;
  /** EIP-712 domain of the token; null where the token verifies no signature. */
  domain: { name: string; version: string } | null;
  token: Address;
  from: Address;
  to: Address;
  value: bigint;
  /** As signed. EIP-3009: both bounds excluded; Permit2: both included. */
  validAfter: bigint;
  validBefore: bigint;
  nonce: bigint;
  /** The only address that may carry it out; null: anybody may. */
  facilitator: Address | null;
  /** Nonce of the EIP-2612 permit that gives Permit2 the allowance for it; null: none is signed. */
  permitNonce: bigint | null;
}

/** The first bytes of what EIP-712 signs; no transaction begins with them. The fields follow, ABI-encoded. */
const prefix: Hex = '0x1901';
/** The name of a domain is a short text of the token's author. */
const maxBytes = 2_048;
const methods: readonly SettlementMethod[] = ['eip3009', 'permit2_exact', 'permit2_upto'];

const layout = [
  { name: 'chainId', type: 'uint256' },
  { name: 'method', type: 'uint8' },
  { name: 'domainName', type: 'string' },
  { name: 'domainVersion', type: 'string' },
  { name: 'token', type: 'address' },
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
  { name: 'facilitator', type: 'address' },
  { name: 'hasPermit', type: 'bool' },
  { name: 'permitNonce', type: 'uint256' },
] as const;

/** Whether bytes are those of an authorisation, and not of a transaction. */
export const isAuthorisation = (unsigned: Hex): boolean => unsigned.startsWith(prefix);

/** @throws Error for a name that no method has. */
export function toMethod(name: string): SettlementMethod {
  const method = methods.find((candidate) => candidate === name);
  if (!method) throw new Error('the method of the payment is not known');
  return method;
}

/** @throws Error for one that readAuthorisation would refuse. */
export function writeAuthorisation(authorisation: Authorisation): Hex {
  const unsigned = encode(authorisation);
  readAuthorisation(unsigned);
  return unsigned;
}

const encode = (it: Authorisation): Hex =>
  concat([
    prefix,
    encodeAbiParameters(layout, [
      BigInt(it.chainId),
      methods.indexOf(it.method),
      it.domain?.name ?? '',
      it.domain?.version ?? '',
      it.token,
      it.from,
      it.to,
      it.value,
      it.validAfter,
      it.validBefore,
      it.nonce,
      it.facilitator ?? zeroAddress,
      it.permitNonce !== null,
      it.permitNonce ?? 0n,
    ]),
  ]);

/** @throws Error unless the bytes are canonical, and a contract could execute what they authorise. */
export function readAuthorisation(unsigned: Hex): Authorisation {
  if (!isAuthorisation(unsigned) || size(unsigned) > maxBytes) throw new Error('the bytes authorise no payment');
  const [chainId, index, name, version, token, from, to, value, validAfter, validBefore, nonce, facilitator, hasPermit, permit] =
    decodeAbiParameters(layout, slice(unsigned, 2));
  const method = methods[index];
  if (!method || chainId > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('the method or the chain is not known');
  const authorisation: Authorisation = {
    ...{ chainId: Number(chainId), method, token, from, to, value, validAfter, validBefore, nonce },
    domain: name === '' && version === '' ? null : { name, version },
    facilitator: isZero(facilitator) ? null : facilitator,
    permitNonce: hasPermit ? permit : null,
  };
  // the ABI decoder ignores unusual offsets and trailing data: two encodings would be one signed message
  if (encode(authorisation) !== unsigned) throw new Error('the bytes are not canonical');
  assertExecutable(authorisation);
  return authorisation;
}

/** Refuses what a contract would always revert, what moves nothing, and a window of a single second. */
function assertExecutable(it: Authorisation): void {
  const isOfToken = it.method === 'eip3009';
  if ([it.token, it.from, it.to].some(isZero) || it.from === it.to)
    throw new Error('a party is the zero address, or pays itself');
  if (it.value === 0n) throw new Error('nothing is paid');
  if (isOfToken && it.permitNonce !== null) throw new Error('a payment by the token itself needs no allowance');
  if ((it.domain !== null) !== (isOfToken || it.permitNonce !== null)) throw new Error('the domain is missing, or has no use');
  if ((it.facilitator !== null) !== (it.method === 'permit2_upto')) throw new Error('the facilitator is missing, or has no use');
  if (lastSecond(it) <= it.validAfter || lastSecond(it) > BigInt(Number.MAX_SAFE_INTEGER))
    throw new Error('there is no time at which it could be executed');
}

/** The last second at which a contract executes it, since the epoch. */
export const lastSecond = ({ method, validBefore }: Pick<Authorisation, 'method' | 'validBefore'>): bigint =>
  method === 'eip3009' ? validBefore - 1n : validBefore;

/** 32 bytes, as EIP-3009 has nonces. */
export const nonceBytes = (nonce: bigint): Hex => numberToHex(nonce, { size: 32 });

/** What can be used once only, in canonical form. */
export const toIdentity = ({ method, token, from, nonce }: Pick<Authorisation, 'method' | 'token' | 'from' | 'nonce'>): string =>
  method === 'eip3009' ? authorizationIdentity(token, from, nonceBytes(nonce)) : permitIdentity(from, nonce);

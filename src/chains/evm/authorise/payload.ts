import { randomBytes } from 'node:crypto';
import { bytesToHex, slice } from 'viem';
import type { AuthorisableTerms, AuthorisationPlan, PaymentAuthoriser, SettlementMethod } from '../../payments';
import type { Hex, JsonObject, JsonValue } from '../../types';
import { keySignatureBytes } from '../payments/calldata';
import { permit2Address } from '../payments/contracts';
import { isZero, readAddress } from '../payments/fields';
import { type Authorisation, nonceBytes, readAuthorisation } from './bytes';
import { spenderOf } from './digests';

/** How official clients choose what they sign, and how they write it (x402 version 1 and 2, schemes exact and upto on EVM). */
export const evmAuthoriser: PaymentAuthoriser = { plan, present };

function plan(terms: AuthorisableTerms): AuthorisationPlan {
  const { scheme, token, extra, seconds, takesPermit } = terms;
  const method = toMethod(terms);
  if (typeof method !== 'string') return method;
  const domain = readDomain(extra) ?? token.domain ?? null;
  if (isOther(domain, token.domain))
    return refused('extra', `the token's EIP-712 domain is ${token.domain?.name} ${token.domain?.version}`);
  const facilitator = scheme === 'upto' ? readAddress(extra.facilitatorAddress) : null;
  if (scheme === 'upto' && (!facilitator || isZero(facilitator)))
    return refused('extra.facilitatorAddress', 'has to be the address that settles');
  if (method === 'eip3009' && !domain) return refused('extra', 'has to contain name and version of the token (EIP-712)');
  const nonce = bytesToHex(randomBytes(32));
  return {
    payloadType: method === 'eip3009' ? 'eip3009' : 'permit2',
    action: {
      ...{ type: 'authorisation', method, nonce, seconds, facilitator, domain },
      withAllowance: method !== 'eip3009' && takesPermit && domain !== null,
    },
  };
}

function toMethod({ scheme, token, extra }: AuthorisableTerms): SettlementMethod | { field: string; problem: string } {
  const field = 'extra.assetTransferMethod';
  const { assetTransferMethod: asked = scheme === 'upto' ? 'permit2' : 'eip3009' } = extra;
  if (asked === 'permit2') return scheme === 'upto' ? 'permit2_upto' : 'permit2_exact';
  if (asked !== 'eip3009' || scheme === 'upto') return refused(field, 'is not supported');
  return token.takesAuthorisations ? 'eip3009' : refused(field, 'the token takes no authorisations (EIP-3009)');
}

const refused = (field: string, problem: string) => ({ field, problem });

function readDomain({ name, version }: JsonObject): { name: string; version: string } | null {
  const isText = (value: JsonValue | undefined): value is string =>
    typeof value === 'string' && value !== '' && value.length <= 100;
  return isText(name) && isText(version) ? { name, version } : null;
}

type Domain = { name: string; version: string } | null | undefined;

const isOther = (one: Domain, known: Domain): boolean =>
  Boolean(one && known && (one.name !== known.name || one.version !== known.version));

function present(unsigned: Hex, signed: Hex): { payload: JsonObject; permit: JsonObject | null } {
  const it = readAuthorisation(unsigned);
  const signature = slice(signed, 0, keySignatureBytes);
  const signedFields: JsonObject = it.method === 'eip3009' ? toAuthorization(it) : toPermit2(it, it.method);
  return {
    payload: { signature, ...signedFields },
    permit: it.permitNonce === null ? null : toPermit(it, it.permitNonce, slice(signed, keySignatureBytes)),
  };
}

const toAuthorization = ({ from, to, value, validAfter, validBefore, nonce }: Authorisation): JsonObject => ({
  authorization: {
    ...{ from, to, value: value.toString(), nonce: nonceBytes(nonce) },
    ...{ validAfter: validAfter.toString(), validBefore: validBefore.toString() },
  },
});

const toPermit2 = (
  { from, to, token, value, validAfter, validBefore, nonce, facilitator }: Authorisation,
  method: Exclude<SettlementMethod, 'eip3009'>,
): JsonObject => ({
  permit2Authorization: {
    from,
    permitted: { token, amount: value.toString() },
    spender: spenderOf(method),
    nonce: nonce.toString(),
    deadline: validBefore.toString(),
    witness: { to, ...(facilitator && { facilitator }), validAfter: validAfter.toString() },
  },
});

/** Information of the extension eip2612GasSponsoring. */
const toPermit = ({ from, token, value, validBefore }: Authorisation, nonce: bigint, signature: Hex): JsonObject => ({
  ...{ from, asset: token, spender: permit2Address, amount: value.toString(), nonce: nonce.toString() },
  ...{ deadline: validBefore.toString(), signature, version: '1' },
});

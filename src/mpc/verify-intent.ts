import type { FamilyCodec, SigningPayload } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import type { ChainFamily, Hex, TransactionDescription } from '../chains/types';
import type { OrderRecipient, SigningClaims } from '../messages/order';
import type { Spending } from './admission';
import { assertMatches, decode } from './verify/mismatch';
import { type Comparer, getResources, sameToken } from './verify/ordered';
import { rules } from './verify/rules';
import { type KeyMaterial, type VerifiedPayload, verifySigners } from './verify/signers';

interface BytesContext {
  /** This node's own registry of the enabled chains and their tokens. */
  registry: ChainRegistry;
  getFamily: (name: ChainFamily) => FamilyCodec;
  /** This node's own clock, milliseconds since the epoch. */
  now?: () => number;
}

export interface VerifyContext extends BytesContext {
  /** From the node's own store, by key id: every key in the order. */
  keys: ReadonlyMap<string, KeyMaterial>;
}

interface VerifiedBytes {
  family: FamilyCodec;
  signingPayloads: SigningPayload[];
  /** Identifies the message, whatever its signatures and whatever the bytes say of what it spends. */
  messageKey: string;
  /** What the bytes use up (verify/ordered.ts). */
  resources: string[];
  spends: Spending;
}

export interface VerifiedTransaction extends Omit<VerifiedBytes, 'family' | 'signingPayloads'> {
  /** In the order of the transaction's signing payloads. */
  payloads: VerifiedPayload[];
}

/**
 * Decides whether a node signs: only a transaction whose bytes, decoded here, do exactly what the order says and what its kind allows
 * (verify/rules.ts), with digests computed here, by keys whose addresses are derived here. Without I/O but the clock; initiator and
 * peer both run it on the bytes.
 * @throws GatewayError intent_mismatch naming the field that differs.
 */
export function verifyIntent(claims: SigningClaims, unsigned: Hex, { keys, ...context }: VerifyContext): VerifiedTransaction {
  const { family, signingPayloads, ...verified } = verifyBytes(claims, unsigned, context);
  return { payloads: verifySigners(claims.signers, signingPayloads, family, keys), ...verified };
}

/** The same without the keys, which the digests of the order stand for. @throws GatewayError intent_mismatch */
export function verifyBytes(
  claims: SigningClaims,
  unsigned: Hex,
  { registry, getFamily, now = Date.now }: BytesContext,
): VerifiedBytes {
  const chain = registry.findByCaip2(claims.chain);
  assertMatches(chain !== undefined, 'chain', 'this node does not serve it');
  const family = getFamily(chain.family);
  const from = family.parseAddress(claims.from);
  assertMatches(from !== null, 'from', 'it is not an address of this chain');
  const described = decode(() => family.describe(unsigned));
  const same = comparer(family);

  if (claims.kind === 'reissue') assertIsReissued(family);
  assertMatches(described.chain === chain.caip2, 'chain', 'the bytes are for another chain');
  assertMatches(described.maxNetworkFee <= BigInt(claims.max_fee), 'max_fee', 'the bytes exceed it');
  assertMatches(described.maxNetworkFee <= chain.maxNetworkFee, 'max_fee', 'the bytes exceed what this node allows on the chain');
  assertMatches(described.memo === claims.memo, 'memo', 'the bytes carry another one');
  verifyOutputs(described, claims.recipients, same);
  const spends = rules[claims.kind]({ claims, chain, family, from, described, same, now: now() / 1000 });

  const signingPayloads = decode(() => family.signingPayloads(unsigned, claims.from));
  const messageKey = decode(() => family.messageKey(unsigned, claims.from));
  return { family, signingPayloads, messageKey, resources: getResources({ chain, from, described }), spends };
}

/** Where attempts do not expire, another one would be a second payment. @throws GatewayError intent_mismatch */
export function assertIsReissued({ rules: { expired } }: FamilyCodec): void {
  assertMatches(expired === 'reissue', 'kind', 'attempts on this chain are not reissued');
}

/** Requires exactly the ordered outputs, in their order. */
function verifyOutputs({ outputs }: TransactionDescription, ordered: OrderRecipient[], same: Comparer): void {
  assertMatches(outputs.length === ordered.length, 'recipients', 'the bytes have another number of them');
  outputs.forEach(({ recipient, amount, tokenContract }, index) => {
    const wanted = ordered[index] as OrderRecipient;
    assertMatches(same(recipient, wanted.address), 'recipients', 'the bytes pay another recipient');
    assertMatches(amount === BigInt(wanted.amount), 'recipients', 'the bytes move another amount');
    assertMatches(sameToken(tokenContract, wanted.token, same), 'recipients', 'the bytes move another token');
  });
}

const comparer =
  (family: FamilyCodec): Comparer =>
  (a, b) => {
    const [one, other] = [family.parseAddress(a), family.parseAddress(b)];
    return one !== null && other !== null && one.key === other.key;
  };

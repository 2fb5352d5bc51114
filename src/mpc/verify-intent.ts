import type { FamilyCodec, SigningPayload } from '../chains/family';
import { tokenByContract, type ChainRegistry } from '../chains/registry';
import type { ChainDefinition, ChainFamily, Hex, TransactionDescription } from '../chains/types';
import { GatewayError } from '../platform/errors';
import type { OrderRecipient, OrderSigner, SigningClaims } from '../messages/order';
import type { Spending } from './admission';
import { maxPayloads } from './order-schema';
import { deriveKey } from './secp256k1';

export interface KeyMaterial {
  publicKey: Uint8Array;
  chainCode: Uint8Array;
}

export interface VerifyContext {
  /** This node's own registry of the enabled chains and their tokens. */
  registry: ChainRegistry;
  getFamily: (name: ChainFamily) => FamilyCodec;
  /** From the node's own store, by key id: every key in the order. */
  keys: ReadonlyMap<string, KeyMaterial>;
}

/** One signature to be made. */
export interface VerifiedPayload {
  /** Computed here from the transaction's bytes: 32 bytes. */
  digest: Buffer;
  keyId: string;
  path: string;
  /** Key the signature must verify under: the group key's child at `path`, 33 bytes. */
  publicKey: Buffer;
}

export interface VerifiedTransaction {
  /** In the order of the transaction's signing payloads. */
  payloads: VerifiedPayload[];
  /** What the bytes use up: named by chain and account, so that it is the same thing in every transaction. */
  resources: string[];
  spends: Spending;
}

/**
 * Decides whether a node signs: only a transaction whose bytes, decoded here, do exactly what the order says, with digests
 * computed here, by keys whose addresses are derived here. Pure; initiator and peer both run it on the bytes.
 * @throws GatewayError intent_mismatch naming the field that differs.
 */
export function verifyIntent(
  claims: SigningClaims,
  unsigned: Hex,
  { registry, getFamily, keys }: VerifyContext,
): VerifiedTransaction {
  const chain = registry.findByCaip2(claims.chain);
  assertMatches(chain !== undefined, 'chain', 'this node does not serve it');
  const family = getFamily(chain.family);
  const from = family.parseAddress(claims.from);
  assertMatches(from !== null, 'from', 'it is not an address of this chain');
  const described = decode(() => family.describe(unsigned));
  const same = comparer(family);
  const isCancellation = claims.kind === 'cancellation';

  // what does not expire is executed some day: a second payment beside it, whatever the order says
  const isPossible = claims.kind !== 'reissue' || family.rules.expired === 'reissue';
  assertMatches(isPossible, 'kind', 'attempts on this chain do not expire, so that there is no reissue');
  assertMatches(described.chain === chain.caip2, 'chain', 'the bytes are for another chain');
  assertMatches(described.maxNetworkFee <= BigInt(claims.max_fee), 'max_fee', 'the bytes exceed it');
  assertMatches(described.maxNetworkFee <= chain.maxNetworkFee, 'max_fee', 'the bytes exceed what this node allows on the chain');
  verifyOutputs(described, claims.recipients, same);
  if (isCancellation) verifyCancellation(described, from.address, same);
  else verifyTokens(described, chain, same);

  const signingPayloads = decode(() => family.signingPayloads(unsigned, claims.from));
  const payloads = verifySigners(claims.signers, signingPayloads, family, keys);
  const resources = described.resources.map((resource) => `${chain.name}/${from.key}/${resource}`);
  const recipients = isCancellation
    ? []
    : described.outputs.flatMap(({ recipient }) => family.parseAddress(recipient)?.key ?? []);
  return { payloads, resources, spends: { ...sumOf(described, chain), recipients } };
}

type Comparer = (a: string, b: string) => boolean;

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

/** Requires a single token that this node knows: limits are kept per token. */
function verifyTokens({ outputs }: TransactionDescription, chain: ChainDefinition, same: Comparer): void {
  for (const { tokenContract } of outputs) {
    const isKnown = tokenByContract(chain, tokenContract) !== undefined;
    assertMatches(isKnown, 'recipients', 'the token is not in the registry of this node');
    const isSame = sameToken(tokenContract, outputs[0]?.tokenContract ?? null, same);
    assertMatches(isSame, 'recipients', 'the bytes move several tokens');
  }
}

/** All outputs are of one token. */
const sumOf = ({ outputs, maxNetworkFee }: TransactionDescription, chain: ChainDefinition) => ({
  chain: chain.name,
  token: tokenByContract(chain, outputs[0]?.tokenContract ?? null)?.contract ?? null,
  amount: outputs.reduce((sum, { amount }) => sum + amount, 0n),
  fee: maxNetworkFee,
});

/** A cancellation pays nobody, whatever the order says: nothing leaves the account but its fee. */
function verifyCancellation({ outputs }: TransactionDescription, from: string, same: Comparer): void {
  for (const { recipient, tokenContract, amount } of outputs) {
    assertMatches(tokenContract === null, 'recipients', 'a cancellation moves no token');
    assertMatches(amount === 0n, 'recipients', 'a cancellation moves nothing');
    assertMatches(same(recipient, from), 'recipients', 'a cancellation goes to the account itself');
  }
}

/** Requires that each payload is signed by the key of its address, and that the order has the same digests. */
function verifySigners(
  signers: OrderSigner[],
  payloads: SigningPayload[],
  family: FamilyCodec,
  keys: VerifyContext['keys'],
): VerifiedPayload[] {
  const isUsable = payloads.length >= 1 && payloads.length <= maxPayloads && payloads.every(({ digest }) => digest.length === 66);
  assertMatches(isUsable, 'unsigned', 'it has no valid signing payloads');
  const derived = signers.map((signer) => ({ ...signer, ...deriveSigner(signer, family, keys) }));
  for (const { addressKey, digests } of derived) {
    const own = payloads.filter(({ signer }) => signer === addressKey).map(({ digest }) => digest);
    assertMatches(own.length > 0, 'from', 'it is not the address of this key and path');
    assertMatches(isSameList(own, digests), 'signers', 'the digests are not those of the bytes');
  }
  return payloads.map(({ signer, digest }) => {
    const [owner, ...others] = derived.filter(({ addressKey }) => addressKey === signer);
    assertMatches(owner !== undefined && others.length === 0, 'signers', 'a payload has no signer, or several');
    return { digest: Buffer.from(digest.slice(2), 'hex'), keyId: owner.key_id, path: owner.path, publicKey: owner.publicKey };
  });
}

/** Only the family's account paths are accepted: the group key itself and all other paths are never used. */
function deriveSigner({ key_id: keyId, path, protocol }: OrderSigner, family: FamilyCodec, keys: VerifyContext['keys']) {
  const key = keys.get(keyId);
  assertMatches(key !== undefined, 'signers', 'this node has no share of the key');
  assertMatches(protocol === family.keyProtocol, 'signers', 'the chain does not accept signatures of this protocol');
  const index = Number(path.slice(path.lastIndexOf('/') + 1));
  assertMatches(index < 2 ** 31 && family.accountPath(index) === path, 'signers', 'the path is not one of an account');
  const publicKey = deriveKey(key, path);
  return { publicKey, addressKey: family.address(publicKey).key };
}

const isSameList = (a: Hex[], b: Hex[]): boolean => a.length === b.length && a.every((item, index) => item === b[index]);

function decode<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw mismatch('unsigned', error instanceof Error ? error.message : 'the bytes do not decode');
  }
}

/** Addresses are equal when their canonical forms are equal; an address that cannot be parsed equals nothing. */
const comparer =
  (family: FamilyCodec): Comparer =>
  (a, b) => {
    const [one, other] = [family.parseAddress(a), family.parseAddress(b)];
    return one !== null && other !== null && one.key === other.key;
  };

const sameToken = (a: string | null, b: string | null, same: Comparer): boolean =>
  a === null || b === null ? a === b : same(a, b);

function assertMatches(condition: boolean, field: string, problem: string): asserts condition {
  if (!condition) throw mismatch(field, problem);
}

function mismatch(field: string, problem: string): GatewayError {
  return new GatewayError('intent_mismatch', `${field}: ${problem}`);
}

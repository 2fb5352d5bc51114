import type { FamilyCodec, SigningPayload } from '../chains/family';
import { tokenByContract, type ChainRegistry } from '../chains/registry';
import type { ChainDefinition, ChainFamily, Hex, TransactionDescription } from '../chains/types';
import { GatewayError } from '../platform/errors';
import type { IntendedOutput, Signer, SignTransactionRequest } from '../messages/signing';
import type { Spending } from './admission';
import { maxPayloads } from './requests';
import { deriveKey } from './secp256k1';

export interface KeyMaterial {
  publicKey: Uint8Array;
  chainCode: Uint8Array;
}

export interface VerifyContext {
  /** This node's own registry of the enabled chains and their tokens. */
  registry: ChainRegistry;
  getFamily: (name: ChainFamily) => FamilyCodec;
  /** From the node's own store, by key id: every key in the request. */
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
  /** Canonical recipient addresses, decoded from the bytes; none for a cancellation. */
  recipientKeys: string[];
  /** What the bytes use up: named by chain and account, so that it is the same thing in every transaction. */
  resources: string[];
  spends: Spending;
}

/**
 * Decides whether a node signs: only a transaction whose bytes, decoded here, do exactly what the intent says, with digests
 * computed here, by keys whose addresses are derived here. Pure; initiator and peer both run it on the bytes.
 * @throws GatewayError intent_mismatch naming the field that differs.
 */
export function verifyIntent(request: SignTransactionRequest, { registry, getFamily, keys }: VerifyContext): VerifiedTransaction {
  const { intent, kind, unsigned } = request;
  const chain = registry.find(intent.chain);
  assertMatches(chain !== undefined && chain.family === request.family, 'chain', 'this node does not serve it');
  const family = getFamily(chain.family);
  const from = family.parseAddress(intent.fromAddress);
  assertMatches(from !== null, 'from address', 'it is not an address of this chain');
  const described = decode(() => family.describe(unsigned));
  const same = comparer(family);

  assertMatches(described.chain === chain.caip2, 'chain id', 'the bytes are for another chain');
  assertMatches(described.maxNetworkFee <= BigInt(intent.feeBound), 'network fee', 'it exceeds the bound');
  if (kind === 'cancellation') verifyCancellation(described, from.address, same);
  else verifyOutputs(described, intent.outputs, chain, same);

  const signingPayloads = decode(() => family.signingPayloads(unsigned, intent.fromAddress));
  const payloads = verifySigners(request.signers, signingPayloads, family, keys);
  const recipientKeys =
    kind === 'cancellation' ? [] : described.outputs.flatMap(({ recipient }) => family.parseAddress(recipient)?.key ?? []);
  const resources = described.resources.map((resource) => `${chain.name}/${from.key}/${resource}`);
  return { payloads, recipientKeys, resources, spends: spendingOf(described, chain, recipientKeys, same) };
}

/** A node counts and limits one token a transaction. */
function spendingOf(
  { outputs, maxNetworkFee }: TransactionDescription,
  chain: ChainDefinition,
  recipients: string[],
  same: Comparer,
): Spending {
  const token = outputs[0]?.tokenContract ?? null;
  assertMatches(
    outputs.every(({ tokenContract }) => sameToken(tokenContract, token, same)),
    'outputs',
    'they are of several tokens',
  );
  const amount = outputs.reduce((sum, output) => sum + output.amount, 0n);
  return { chain: chain.name, token: tokenByContract(chain, token)?.contract ?? null, amount, fee: maxNetworkFee, recipients };
}

type Comparer = (a: string, b: string) => boolean;

/** Requires exactly the intended outputs, in their order. */
function verifyOutputs(
  { outputs }: TransactionDescription,
  intended: IntendedOutput[],
  chain: ChainDefinition,
  same: Comparer,
): void {
  assertMatches(outputs.length === intended.length, 'outputs', 'the bytes have another number of them');
  outputs.forEach(({ recipient, amount, tokenContract }, index) => {
    const wanted = intended[index] as IntendedOutput;
    assertMatches(same(recipient, wanted.to), 'recipient', 'the bytes pay another recipient');
    assertMatches(amount === BigInt(wanted.amount), 'amount', 'the bytes move another amount');
    assertMatches(sameToken(tokenContract, wanted.tokenContract, same), 'token', 'the bytes move another token');
    assertMatches(tokenByContract(chain, tokenContract) !== undefined, 'token', 'it is not in the registry of this node');
  });
}

/** A cancellation pays nobody, whatever the intent: nothing leaves the account but its fee. */
function verifyCancellation({ outputs }: TransactionDescription, from: string, same: Comparer): void {
  for (const { recipient, tokenContract, amount } of outputs) {
    assertMatches(tokenContract === null, 'token', 'a cancellation moves none');
    assertMatches(amount === 0n, 'amount', 'a cancellation moves nothing');
    assertMatches(same(recipient, from), 'recipient', 'a cancellation goes to the account itself');
  }
}

/** Requires that each payload is signed by the key of its address, and that the request has the same digests. */
function verifySigners(
  signers: Signer[],
  payloads: SigningPayload[],
  family: FamilyCodec,
  keys: VerifyContext['keys'],
): VerifiedPayload[] {
  const isUsable = payloads.length >= 1 && payloads.length <= maxPayloads && payloads.every(({ digest }) => digest.length === 66);
  assertMatches(isUsable, 'unsigned', 'it has no valid signing payloads');
  const derived = signers.map((signer) => ({ ...signer, ...deriveSigner(signer, family, keys) }));
  for (const { addressKey, digests } of derived) {
    const own = payloads.filter(({ signer }) => signer === addressKey).map(({ digest }) => digest);
    assertMatches(own.length > 0, 'from address', 'it is not the address of this key and path');
    assertMatches(isSameList(own, digests), 'digests', 'they are not those of the bytes');
  }
  return payloads.map(({ signer, digest }) => {
    const [owner, ...others] = derived.filter(({ addressKey }) => addressKey === signer);
    assertMatches(owner !== undefined && others.length === 0, 'signers', 'a payload has no signer, or several');
    return { digest: Buffer.from(digest.slice(2), 'hex'), keyId: owner.keyId, path: owner.path, publicKey: owner.publicKey };
  });
}

/** Only the family's account paths are accepted: the group key itself and all other paths are never used. */
function deriveSigner({ keyId, path, protocol }: Signer, family: FamilyCodec, keys: VerifyContext['keys']) {
  const key = keys.get(keyId);
  assertMatches(key !== undefined, 'key', 'this node has no share of it');
  assertMatches(protocol === family.keyProtocol, 'protocol', 'the chain does not accept signatures of this protocol');
  const index = Number(path.slice(path.lastIndexOf('/') + 1));
  assertMatches(index < 2 ** 31 && family.accountPath(index) === path, 'derivation path', 'it is not a path of an account');
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

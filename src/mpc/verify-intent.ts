import type { FamilyAdapter } from '../chains/adapter';
import { tokenByContract, type ChainRegistry } from '../chains/registry';
import type { ChainDefinition, ChainFamily, TransactionDescription } from '../chains/types';
import { GatewayError } from '../platform/errors';
import type { SignTransactionRequest } from '../messages/signing';
import { maxPayloads } from './requests';
import { deriveKey } from './secp256k1';

export interface VerifyContext {
  /** This node's own view of the enabled chains and their tokens. */
  registry: ChainRegistry;
  getAdapter: (family: ChainFamily) => FamilyAdapter;
  /** From the node's own store. */
  key: { publicKey: Uint8Array; chainCode: Uint8Array };
}

export interface VerifiedTransaction {
  /** What is signed, computed here from the transaction's bytes: 32 bytes each. */
  digests: Buffer[];
  path: string;
  /** Canonical address that is paid, decoded from the bytes; null for a cancellation. */
  recipientKey: string | null;
  /** Key the signatures must verify under: the group key's child at `path`, 33 bytes. */
  publicKey: Buffer;
}

/**
 * Decides what a node signs: a transaction whose bytes, decoded here, do exactly what the intent says, from an address
 * derived here. Pure; initiator and peer both run it on the bytes. Facts that only a chain can prove (that an earlier
 * attempt is impossible) are to be gathered before it by the session's admission (src/mpc/ecdsa-sessions.ts).
 * @throws GatewayError intent_mismatch naming the field that differs.
 */
export function verifyIntent(request: SignTransactionRequest, { registry, getAdapter, key }: VerifyContext): VerifiedTransaction {
  const { intent, kind, derivationPath, family, unsigned } = request;
  const chain = registry.find(intent.chain);
  assertMatches(chain !== undefined && chain.family === family, 'chain', 'this node does not serve it');
  const adapter = getAdapter(chain.family);
  const publicKey = childKey(key, derivationPath, adapter);
  const described = decode(unsigned, adapter);
  const same = comparer(adapter);

  assertMatches(described.chainId === chain.chainId, 'chain id', 'the bytes are for another chain');
  const from = adapter.address(publicKey);
  assertMatches(same(intent.fromAddress, from.address), 'from address', 'it is not the address of this key and path');
  assertMatches(described.maxNetworkFee <= BigInt(intent.feeBound), 'network fee', 'it exceeds the bound');
  if (kind === 'cancellation') verifyCancellation(described, from.address, same);
  else verifyTransfer(described, request, chain, same);

  const digests = adapter.signingPayloads(unsigned).map((digest) => Buffer.from(digest.slice(2), 'hex'));
  assertMatches(
    digests.length >= 1 && digests.length <= maxPayloads && digests.every((digest) => digest.length === 32),
    'unsigned',
    'it has no usable signing payloads',
  );
  const recipientKey = kind === 'cancellation' ? null : (adapter.parseAddress(described.recipient)?.key ?? null);
  return { digests, path: derivationPath, recipientKey, publicKey };
}

type Comparer = (a: string, b: string) => boolean;

function verifyTransfer(
  described: TransactionDescription,
  { intent }: SignTransactionRequest,
  chain: ChainDefinition,
  same: Comparer,
): void {
  assertMatches(same(described.recipient, intent.toAddress), 'recipient', 'the bytes pay somebody else');
  assertMatches(described.amount === BigInt(intent.amount), 'amount', 'the bytes move another amount');
  assertMatches(sameToken(described.tokenContract, intent.tokenContract, same), 'token', 'the bytes move another token');
  assertMatches(tokenByContract(chain, described.tokenContract) !== undefined, 'token', 'it is not in the registry of this node');
}

/** A cancellation only consumes a nonce: whatever the intent, nothing leaves the account but its fee. */
function verifyCancellation(described: TransactionDescription, from: string, same: Comparer): void {
  assertMatches(described.tokenContract === null, 'token', 'a cancellation moves none');
  assertMatches(described.amount === 0n, 'amount', 'a cancellation moves nothing');
  assertMatches(same(described.recipient, from), 'recipient', 'a cancellation goes to the account itself');
}

function decode(unsigned: SignTransactionRequest['unsigned'], adapter: FamilyAdapter): TransactionDescription {
  try {
    return adapter.describe(unsigned);
  } catch (error) {
    throw mismatch('unsigned', error instanceof Error ? error.message : 'the bytes do not decode');
  }
}

/** Only paths that the family gives to accounts: the group key itself and anything beside them stay unused. */
function childKey(key: VerifyContext['key'], path: string, adapter: FamilyAdapter): Buffer {
  const index = Number(path.slice(path.lastIndexOf('/') + 1));
  assertMatches(index < 2 ** 31 && adapter.accountPath(index) === path, 'derivation path', 'it is not a path of an account');
  return deriveKey(key, path);
}

/** Addresses are equal when their canonical forms are; what does not parse equals nothing. */
const comparer =
  (adapter: FamilyAdapter): Comparer =>
  (a, b) => {
    const [one, other] = [adapter.parseAddress(a), adapter.parseAddress(b)];
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

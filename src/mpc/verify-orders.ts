import { isDeepStrictEqual } from 'node:util';
import type { DataSource } from 'typeorm';
import type { FamilyCodec } from '../chains/family';
import { keyProtocols } from '../chains/key-protocols';
import type { ChainRegistry } from '../chains/registry';
import type { ChainFamily, Hex } from '../chains/types';
import { fromHex, toHex } from '../platform/hex';
import type { OrderSigner, SigningClaims } from '../messages/order';
import { readRows } from './cursor';
import { type EntryFields, readEntry } from './journal-entry';
import { openOrder, toAttemptKind } from './open-order';
import type { OrderKeys } from './order-keys';
import { isSignature, keyAt } from './signatures';
import { verifyBytes } from './verify-intent';
import type { JournalDifference } from './verify-journal';
import { settlementIn } from './verify/ordered';

export interface OrderSource {
  /** The node's own: what is on a chain that it no longer has is not decoded. */
  registry: ChainRegistry;
  getFamily: (name: ChainFamily) => FamilyCodec;
  /** All keys that the authoriser ever had. */
  keys: OrderKeys;
  deployment: string;
}

interface Row {
  subject: string;
  statement: string;
  outcome: string | null;
  signature: Buffer | null;
  /** null: no order with the hash that the entry names. */
  compact: string | null;
  unsigned: Hex | null;
  public_key: Buffer | null;
  chain_code: Buffer | null;
}

const select = /* sql */ `
  select j.number::text as subject, j.statement, j.outcome, j.signature, o.compact, o.unsigned, k.public_key, k.chain_code
    from journal j
    left join seen_orders o on o.seq = j.order_seq and encode(sha256(convert_to(o.compact, 'UTF8')), 'hex') = j.order_hash
    left join key_shares k on k.key_id = j.key_id
   order by j.number`;

/**
 * Compares every entry with the order that it names, which a key of the authoriser has to have signed, and with its bytes, and every
 * recorded signature with the digest and the key. An entry that was taken back from a peer may lack its order: that is in the peer's own database.
 */
export async function* verifyOrders(database: DataSource, source: OrderSource): AsyncIterable<JournalDifference> {
  for await (const row of readRows<Row>(database, select)) {
    const difference = await findDifference(row, source);
    if (difference !== null) yield { table: 'journal', subject: row.subject, difference };
  }
}

async function findDifference(row: Row, source: OrderSource): Promise<string | null> {
  const { compact, outcome, signature } = row;
  const entry = parseEntry(row.statement);
  // what is no entry does not have the node's signature
  if (entry === null) return null;
  if (compact === null) return outcome === 'recovered' ? null : 'the node does not keep the order that it names';
  const claims = await openOrder(compact, source.keys, source.deployment);
  if (claims === null || !('recipients' in claims))
    return 'its order is not one that a known key of the authoriser has signed for this deployment';
  const field = differingField(entry, claims);
  if (field !== undefined) return `its order has another ${field}`;
  const inBytes = findInBytes(entry, claims, row.unsigned, source);
  if (inBytes !== null) return inBytes;
  if (signature === null || isValidSignature(entry, claims, row, source)) return null;
  return 'the recorded signature is not one of its key over its digest';
}

function parseEntry(text: string): EntryFields | null {
  try {
    return readEntry({ text });
  } catch {
    return null;
  }
}

/** Name of the first field of an entry that is not the order's; undefined if all are. */
function differingField(entry: EntryFields, claims: SigningClaims): string | undefined {
  const digests = claims.signers.flatMap((signer) => signer.digests);
  const pairs: Record<string, [unknown, unknown]> = {
    transaction: [entry.tx_id, claims.tx_id],
    attempt: [entry.attempt, claims.attempt],
    kind: [entry.kind, toAttemptKind(claims)],
    number: [entry.order_seq, claims.seq],
    client: [entry.client_id, claims.client_id],
    // an order has them by signer, an entry in the order of the payloads
    digests: [[...entry.digests].sort(), digests.sort()],
    key: [entry.key_id, findSigner(entry, claims)?.key_id],
    'list of earlier attempts': [toNamed(entry.proofs), claims.kind === 'reissue' ? toNamed(claims.earlier) : undefined],
  };
  return firstDifference(pairs);
}

const toNamed = (attempts?: { attempt: number; digests: Hex[] }[]) =>
  attempts?.map(({ attempt, digests }) => ({ attempt, digests }));

/** What the entry says that its transaction spends and uses up, against the bytes; null: the same. */
function findInBytes(
  entry: EntryFields,
  claims: SigningClaims,
  unsigned: Hex | null,
  { registry, getFamily }: OrderSource,
): string | null {
  if (unsigned === null || !registry.findByCaip2(claims.chain)) return null;
  try {
    const now = () => timeOf(entry, claims);
    const { signingPayloads, messageKey, resources, spends } = verifyBytes(claims, unsigned, { registry, getFamily, now });
    const pairs: Record<string, [unknown, unknown]> = {
      digests: [entry.digests, signingPayloads.map(({ digest }) => digest)],
      message: [entry.message_key, signingPayloads.length > 1 ? messageKey : undefined],
      resources: [entry.resources, resources],
      chain: [entry.chain, spends.chain],
      token: [entry.token, spends.token ?? ''],
      amount: [entry.amount, spends.amount.toString()],
      fee: [entry.fee, spends.fee.toString()],
    };
    const field = firstDifference(pairs);
    return field === undefined ? null : `the bytes of its order have another ${field}`;
  } catch (error) {
    return `the bytes of its order are refused: ${error instanceof Error ? error.message : 'they do not decode'}`;
  }
}

/** Milliseconds since the epoch; before the end of what expires: an entry may be written a moment after its order was verified. */
function timeOf({ admitted_at: at }: EntryFields, claims: SigningClaims): number {
  const windowEnd = claims.kind === 'typed_data' ? claims.authorisation.window_end : settlementIn(claims)?.window_end;
  return Math.min(Date.parse(at), windowEnd === undefined ? Infinity : (windowEnd - 1) * 1_000);
}

const firstDifference = (pairs: Record<string, [unknown, unknown]>): string | undefined =>
  Object.keys(pairs).find((name) => !isDeepStrictEqual(pairs[name]?.[0], pairs[name]?.[1]));

/** Who signs the payload of an entry. */
const findSigner = ({ key_id: keyId, digests, payload }: EntryFields, { signers }: SigningClaims): OrderSigner | undefined =>
  signers.find((signer) => signer.key_id === keyId && signer.digests.some((digest) => digest === digests[payload]));

/** By the public key of this node's share. */
function isValidSignature(entry: EntryFields, claims: SigningClaims, row: Row, source: OrderSource): boolean {
  const { signature, public_key: publicKey, chain_code: chainCode } = row;
  const signer = findSigner(entry, claims);
  const digest = entry.digests[entry.payload];
  if (!signer || !digest || !signature || !publicKey || !chainCode) return false;
  const key = keyAt(signer.protocol, { publicKey, chainCode }, signer.path);
  const signed = { digest: fromHex(digest as Hex), publicKey: key };
  if (keyProtocols[signer.protocol].signs === 'digest') return isSignature(signer.protocol, toHex(signature), signed);
  const message = findMessage(entry, claims, row.unsigned, source);
  // of bytes that are not decoded nothing more can be said
  return message === undefined || isSignature(signer.protocol, toHex(signature), { ...signed, message: fromHex(message) });
}

/** What an entry has signed, where that is a message; undefined without the bytes or the chain. */
function findMessage(
  { payload }: EntryFields,
  claims: SigningClaims,
  unsigned: Hex | null,
  { registry, getFamily }: OrderSource,
): Hex | undefined {
  const chain = registry.findByCaip2(claims.chain);
  if (unsigned === null || !chain) return undefined;
  return getFamily(chain.family).signingPayloads(unsigned, claims.from)[payload]?.message;
}

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { decodeProtectedHeader } from 'jose';
import type { DataSource } from 'typeorm';
import type { Hex } from '../chains/types';
import type { SigningClaims } from '../messages/order';
import type { OrderKeys } from '../mpc/order-keys';
import { notFound } from '../platform/errors';
import { fromHex } from '../platform/hex';
import { isUuid } from '../platform/ids';
import { TransactionEntity } from '../transactions/entity';
import type { NumberedOrder } from './kept-orders';

/**
 * `valid`: a configured key has signed just the stored claims. `differs`: it has signed others under the same jti. `missing`: neither
 * a workflow history nor a node shows the signed order. `not checked`: no keys are configured.
 */
export type SignatureState = 'valid' | 'differs' | 'invalid' | 'missing' | 'not checked';

/** An order of a transfer, newest last. */
export interface OrderReport {
  attempt: number;
  kind: string;
  /** Running number. */
  seq: number;
  jti: string;
  issued_at: Date;
  expires_at: Date;
  /** Thumbprint of the key that the signed order names; null when only the claims are known. */
  kid: string | null;
  signature: SignatureState;
  /** SHA-256 in hex over the signed order in compact form, which nodes name it by; null when only the claims are known. */
  order_sha256: string | null;
  /** What the nodes sign, in the order of the signers. */
  digests: Hex[];
  /** SHA-256 in hex over the unsigned bytes that the digests were computed from. */
  bytes_sha256: string;
}

export interface OrderSources {
  database: DataSource;
  /** The signed orders of a transfer that its workflow has received, by jti. */
  findSigned: (txId: string) => Promise<ReadonlyMap<string, string>>;
  /** Those of these orders that nodes keep, by jti. */
  findKept: (orders: readonly NumberedOrder[]) => Promise<ReadonlyMap<string, string>>;
  keys: OrderKeys | null;
}

interface Row {
  claims: SigningClaims;
  unsigned: Hex;
}

/**
 * The orders of a transfer. The database has their claims only: the signed orders are in the history of the transfer's workflow, and
 * those that Temporal no longer has at the nodes that have acted on them.
 * @throws GatewayError not_found.
 */
export async function showOrders({ database, findSigned, findKept, keys }: OrderSources, txId: string): Promise<OrderReport[]> {
  const isKnown = isUuid(txId) && (await database.manager.existsBy(TransactionEntity, { txId }));
  if (!isKnown) throw notFound(`transaction ${txId}`);
  const rows = await database.query<Row[]>(
    `select o.claims, a.unsigned from orders o join transfer_attempts a using (tx_id, attempt) where o.tx_id = $1 order by o.seq`,
    [txId],
  );
  const signed = rows.length > 0 ? await findSigned(txId) : new Map<string, string>();
  const unsigned = rows.flatMap(({ claims: { jti, seq } }) => (signed.has(jti) ? [] : { jti, seq }));
  const kept = unsigned.length > 0 ? await findKept(unsigned) : signed;
  return Promise.all(rows.map((row) => toReport(row, signed.get(row.claims.jti) ?? kept.get(row.claims.jti), keys)));
}

async function toReport({ claims, unsigned }: Row, order: string | undefined, keys: OrderKeys | null): Promise<OrderReport> {
  const { attempt, kind, seq, jti, iat, exp, signers } = claims;
  return {
    attempt,
    kind,
    seq,
    jti,
    issued_at: new Date(iat * 1000),
    expires_at: new Date(exp * 1000),
    kid: readKid(order),
    signature: await check(order, claims, keys),
    order_sha256: order === undefined ? null : sha256(order),
    digests: signers.flatMap(({ digests }) => digests),
    bytes_sha256: sha256(fromHex(unsigned)),
  };
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

function readKid(order: string | undefined): string | null {
  try {
    return (order !== undefined && decodeProtectedHeader(order).kid) || null;
  } catch {
    return null;
  }
}

async function check(order: string | undefined, claims: SigningClaims, keys: OrderKeys | null): Promise<SignatureState> {
  if (order === undefined) return 'missing';
  if (keys === null) return 'not checked';
  try {
    const { payload, isOrder } = await keys.open(order);
    if (!isOrder) return 'invalid';
    return isDeepStrictEqual(JSON.parse(Buffer.from(payload).toString()), claims) ? 'valid' : 'differs';
  } catch {
    return 'invalid';
  }
}

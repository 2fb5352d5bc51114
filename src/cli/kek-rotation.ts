import { timingSafeEqual } from 'node:crypto';
import type { DataSource, EntityManager } from 'typeorm';
import type { NodeIndex } from '../messages/nodes';
import type { ShareCipher } from '../mpc/share-cipher';
import { shareColumns, type ShareRow, toBinding, toSealed } from '../mpc/share-rows';
import { verifyOwner } from '../mpc/store-owner';
import { inTransaction } from '../platform/database';
import { withReason } from './confirmation';
import { recordAct } from './mpc-operations';
import { CommandFailed } from './session';

/** About 5 MB of shares; their rows are locked for less than a second, while a running node reads them undisturbed. */
const batchShares = 50;

export interface KekRotation {
  node: NodeIndex;
  operator: string;
  /** Why, for the node's record of acts. */
  reason?: string | undefined;
  /** Called after each committed batch. */
  onBatch?: (resealed: number) => void;
  /** Shares of one database transaction. */
  batchSize?: number;
}

export interface KekRotationReport {
  /** By this run; those of an interrupted one before are not counted again. */
  resealed: number;
  /** All that the node has. */
  shares: number;
  /** Of the key that all shares are now sealed under. */
  kek_fingerprint: string;
}

/**
 * Encrypts every share of a node's database again, under the first key of `cipher`, so that the other keys can be removed. What a share is
 * bound to stays as it is. Safe to interrupt and to run again; a node that has both keys signs meanwhile.
 * @throws ConfigError before anything is changed, when the database is another node's or a key for a share is missing; CommandFailed
 * when shares under another key were added meanwhile.
 */
export async function rotateKek(database: DataSource, cipher: ShareCipher, rotation: KekRotation): Promise<KekRotationReport> {
  const { node, operator, reason, onBatch, batchSize = batchShares } = rotation;
  await verifyOwner(database, node, cipher);
  let resealed = 0;
  // ends: every batch but the last one leaves fewer shares under other keys
  for (let batch = batchSize; batch > 0;) {
    batch = await resealBatch(database, cipher, batchSize);
    resealed += batch;
    if (batch > 0) onBatch?.(resealed);
  }
  const shares = await inTransaction(database, (manager) => finish(manager, cipher, { operator, reason, resealed }));
  return { resealed, shares, kek_fingerprint: cipher.fingerprint };
}

/** One database transaction. Returns the number of shares. */
function resealBatch(database: DataSource, cipher: ShareCipher, size: number): Promise<number> {
  return inTransaction(database, async (manager) => {
    await manager.query(`set local lock_timeout = '10s'`);
    const rows = await manager.query<ShareRow[]>(
      `select ${shareColumns} from key_shares where kek_fingerprint <> $1 order by key_id limit $2 for update`,
      [cipher.fingerprint, size],
    );
    for (const row of rows) await reseal(manager, cipher, row);
    return rows.length;
  });
}

/** @throws Error when the share cannot be opened, before or after; the batch is then rolled back. */
async function reseal(manager: EntityManager, cipher: ShareCipher, row: ShareRow): Promise<void> {
  const binding = toBinding(row);
  const share = cipher.open(toSealed(row), binding);
  try {
    const sealed = cipher.seal(share, binding);
    const opened = cipher.open(sealed, binding);
    const isSame = timingSafeEqual(opened, share);
    opened.fill(0);
    if (!isSame) throw new Error(`the share of key ${row.key_id} does not open again`);
    await manager.query('update key_shares set ciphertext = $2, iv = $3, tag = $4, kek_fingerprint = $5 where key_id = $1', [
      row.key_id,
      sealed.ciphertext,
      sealed.iv,
      sealed.tag,
      sealed.kekFingerprint,
    ]);
  } finally {
    share.fill(0);
  }
}

/** From here on the node's database belongs to the new key. Returns the number of shares. */
async function finish(
  manager: EntityManager,
  { fingerprint }: ShareCipher,
  { operator, reason, resealed }: Pick<KekRotation, 'operator' | 'reason'> & { resealed: number },
): Promise<number> {
  const [count] = await manager.query<{ shares: string; others: string }[]>(
    'select count(*) as shares, count(*) filter (where kek_fingerprint <> $1) as others from key_shares',
    [fingerprint],
  );
  if (Number(count?.others) > 0)
    throw new CommandFailed(
      `${count?.others} shares were added under another key meanwhile: restart the node with the new key first, then run this again`,
    );
  const [, changed] = await manager.query<[unknown, number]>(
    'update node_identity set kek_fingerprint = $1 where kek_fingerprint <> $1',
    [fingerprint],
  );
  if (changed > 0 || resealed > 0)
    await recordAct(manager, operator, 'kek_rotated', { kek_fingerprint: fingerprint, resealed, ...withReason(reason) });
  return Number(count?.shares);
}

import type { EntityManager } from 'typeorm';
import type { ImpossibleProof } from '../chains/chain-client';
import type { AttemptKind, Hex, JsonObject, Prepared } from '../chains/types';
import { isContradicted } from '../following/inclusions';
import type { Signer } from '../messages/signing';
import { type Attempt, Attempts, type Inclusion } from './attempts';

interface Row {
  attempt: number;
  kind: AttemptKind;
  prepared: Prepared;
  unsigned: Hex;
  signers: { key_id: string; path: string; protocol: Signer['protocol']; digests: Hex[] }[];
  message_key: string;
  ids: string[];
  expiry: JsonObject | null;
  impossible_proof: ImpossibleProof | null;
  counted_proof: ImpossibleProof | null;
  signing_begun_at: Date;
  tx_hash: string | null;
  signed: Hex | null;
  signed_at: Date | null;
  broadcast_at: Date | null;
  included_id: string | null;
  block_number: string | null;
  block_hash: string | null;
  success: boolean | null;
  fee: string | null;
  debited: string | null;
  received: string | null;
  agreed_by: number | null;
  depth: string;
  is_contradicted: boolean;
  is_abandoned: boolean;
}

/** Keeps inclusions as they are until the end of the database transaction. Call it under the lock of the transaction. */
export async function lockAttempts(manager: EntityManager, txId: string): Promise<void> {
  await manager.query('select from transfer_attempts where tx_id = $1 order by attempt for share', [txId]);
}

/**
 * An inclusion in a block that the follower has not found at its height is left out, and so is a proof on one endpoint's word where several are
 * configured: as the follower has noted (`chain_cursors.agreed_to`), or as the caller says.
 */
export async function loadAttempts(
  manager: EntityManager,
  txId: string,
  { needsAgreement = false }: { needsAgreement?: boolean } = {},
): Promise<Attempts> {
  const rows = await manager.query<Row[]>(
    // one statement, one snapshot: a roll-back moves the cursor and clears inclusions together
    // a block that a second endpoint of the chain has not shown yet is not deep
    `select a.*, case when a.block_number > c.agreed_to then 0 else coalesce(c.next_block - a.block_number, 0) end as depth, t.cancellation_reason is not null as is_abandoned,
            a.block_number is not null and ${isContradicted} as is_contradicted,
            case when a.impossible_proof ? 'agreed_by' or not $2 and is_proven_impossible(a) then a.impossible_proof end as counted_proof,
            array(select i.id from attempt_ids i where i.tx_id = a.tx_id and i.attempt = a.attempt order by i.id) as ids
       from transfer_attempts a join transactions t on t.tx_id = a.tx_id left join chain_cursors c on c.chain = a.chain
      where a.tx_id = $1 order by a.attempt`,
    [txId, needsAgreement],
  );
  return new Attempts(
    rows.map(toAttempt),
    rows.some((row) => row.is_abandoned),
  );
}

function toAttempt(row: Row): Attempt {
  return {
    attempt: row.attempt,
    kind: row.kind,
    prepared: row.prepared,
    unsigned: row.unsigned,
    signers: row.signers.map(({ key_id: keyId, path, protocol, digests }) => ({ keyId, path, protocol, digests })),
    messageKey: row.message_key,
    ids: row.ids,
    expiry: row.expiry,
    begunAt: row.signing_begun_at,
    signed: row.tx_hash === null || row.signed === null ? null : { id: row.tx_hash, bytes: row.signed },
    signedAt: row.signed_at,
    isBroadcast: row.broadcast_at !== null,
    impossibleProof: row.counted_proof,
    isProofDoubted: row.impossible_proof !== null && row.counted_proof === null,
    inclusion: row.is_contradicted ? null : toInclusion(row),
  };
}

function toInclusion(row: Row): Inclusion | null {
  const { kind, included_id: hash, block_number: blockNumber, block_hash: blockHash, success, fee } = row;
  if (hash === null || blockNumber === null || blockHash === null || success === null || fee === null) return null;
  const amount = (text: string | null) => (text === null ? null : BigInt(text));
  return {
    kind,
    hash,
    blockNumber: BigInt(blockNumber),
    blockHash,
    success,
    fee: BigInt(fee),
    debited: amount(row.debited),
    received: amount(row.received),
    agreedBy: row.agreed_by,
    depth: BigInt(row.depth),
  };
}

import type { EntityManager } from 'typeorm';
import type { AttemptKind, Hex, JsonObject, Prepared, TransactionDescription } from '../../chains/types';
import type { Signer } from '../../messages/signing';

export interface NewAttempt {
  txId: string;
  attempt: number;
  kind: AttemptKind;
  chain: string;
  prepared: Prepared;
  unsigned: Hex;
  signers: Signer[];
  messageKey: string;
  /** Canonical form of the address that signs it. */
  owner: string;
  /** Resources it uses up, reserved by its transaction; and what its bytes return to `owner`. */
  described: Pick<TransactionDescription, 'resources' | 'change' | 'size'>;
}

/**
 * Stores the bytes of an attempt, with the resources it uses up and what it returns, before anything is signed. A message is ordered once, in
 * one attempt of one transaction (unique by chain and message_key): where each digest covers a part of what it spends (BIP-143), those of two
 * orders over it could be put together, with a fee that neither shows.
 */
export async function insertAttempt(manager: EntityManager, it: NewAttempt): Promise<void> {
  const { resources, change, size } = it.described;
  const signers = it.signers.map(({ keyId, path, protocol, digests }) => ({ key_id: keyId, path, protocol, digests }));
  await manager.query(
    `insert into transfer_attempts (tx_id, attempt, kind, chain, prepared, unsigned, signers, message_key, fee_bound, expiry, size)
     values ($1, $2, $3, $4, $5::jsonb, $6, $7::jsonb, $8, $9, $10::jsonb, $11)`,
    [
      it.txId,
      it.attempt,
      it.kind,
      it.chain,
      JSON.stringify(it.prepared),
      it.unsigned,
      JSON.stringify(signers),
      it.messageKey,
      it.prepared.feeBound,
      it.prepared.expiry && JSON.stringify(it.prepared.expiry),
      size ?? null,
    ],
  );
  if (change)
    await manager.query(
      'insert into attempt_outputs (chain, resource, owner, amount, tx_id, attempt) values ($1, $2, $3, $4, $5, $6)',
      [it.chain, change.resource, it.owner, change.amount.toString(), it.txId, it.attempt],
    );
  const linked = await manager.query<unknown[]>(
    `insert into attempt_reservations (tx_id, attempt, reservation_id)
     select tx_id, $2, reservation_id from reservations where tx_id = $1 and released_at is null and resource = any($3)
     returning reservation_id`,
    [it.txId, it.attempt, resources],
  );
  if (linked.length !== resources.length)
    throw new Error(`attempt ${it.attempt} of ${it.txId} uses ${resources.length} resources, ${linked.length} are reserved`);
}

/** Stores the signed bytes with their id, once. */
export async function storeSigned(
  manager: EntityManager,
  { txId, attempt, id, bytes }: { txId: string; attempt: number; id: string; bytes: Hex },
): Promise<void> {
  await manager.query(
    `with stored as (
       update transfer_attempts set tx_hash = $3, signed = $4, signed_at = clock_timestamp() where tx_id = $1 and attempt = $2
       returning chain, tx_hash, tx_id, attempt
     )
     insert into attempt_ids (chain, id, tx_id, attempt) select * from stored on conflict do nothing`,
    [txId, attempt, id, bytes],
  );
}

export async function markBroadcast(manager: EntityManager, txId: string, attempt: number): Promise<void> {
  await manager.query(
    'update transfer_attempts set broadcast_at = clock_timestamp() where tx_id = $1 and attempt = $2 and broadcast_at is null',
    [txId, attempt],
  );
}

/** The first proof is kept, until every configured endpoint shows one (`agreed_by`). */
export async function storeProof(manager: EntityManager, txId: string, attempt: number, proof: JsonObject): Promise<void> {
  await manager.query(
    `update transfer_attempts set impossible_proof = $3::jsonb where tx_id = $1 and attempt = $2
        and (impossible_proof is null or ($3::jsonb ? 'agreed_by' and not impossible_proof ? 'agreed_by'))`,
    [txId, attempt, JSON.stringify(proof)],
  );
}

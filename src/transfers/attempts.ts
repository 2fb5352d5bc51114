import type { EntityManager } from 'typeorm';
import type { ImpossibleProof } from '../chains/family';
import type { AttemptKind, Hex, InclusionEffect, JsonObject, Prepared } from '../chains/types';
import { isContradicted } from '../following/inclusions';
import type { Signer } from '../messages/signing';

/** One unsigned or signed transaction of a transfer. */
export interface Attempt {
  attempt: number;
  kind: AttemptKind;
  prepared: Prepared;
  unsigned: Hex;
  signers: Signer[];
  messageKey: string;
  /** Every transaction id known of it. */
  ids: string[];
  expiry: JsonObject | null;
  begunAt: Date;
  signed: { id: string; bytes: Hex } | null;
  /** A chain node has accepted it. */
  isBroadcast: boolean;
  /** Why it can never be executed any more. */
  impossibleProof: ImpossibleProof | null;
  inclusion: Inclusion | null;
}

export type SignedAttempt = Attempt & { signed: NonNullable<Attempt['signed']> };

/** What the chain did with an attempt that it has included. */
export interface Inclusion extends Omit<InclusionEffect, 'blockNumber'> {
  kind: AttemptKind;
  /** The id under which it is included. */
  hash: string;
  blockNumber: bigint;
  /** Blocks scanned from the inclusion on, its own included; not positive where the follower has not come so far. */
  depth: bigint;
}

/** All attempts of one transfer, oldest first, as they were when loaded. */
export class Attempts {
  /** `isOnRecord`: the transfer was abandoned without a cancellation, since its attempts expire. */
  constructor(
    readonly all: readonly Attempt[],
    private readonly isOnRecord = false,
  ) {}

  get last(): Attempt | undefined {
    return this.all.at(-1);
  }

  get nextNumber(): number {
    return (this.last?.attempt ?? 0) + 1;
  }

  find(attempt: number): Attempt | undefined {
    return this.all.find((candidate) => candidate.attempt === attempt);
  }

  /** @throws Error for an attempt that was never begun: a bug in the caller. */
  get(attempt: number): Attempt {
    const found = this.find(attempt);
    if (!found) throw new Error(`there is no attempt ${attempt}`);
    return found;
  }

  /** @throws Error for an attempt that is not signed. */
  getSigned(attempt: number): SignedAttempt {
    const found = this.signed.find((candidate) => candidate.attempt === attempt);
    if (!found) throw new Error(`attempt ${attempt} is not signed`);
    return found;
  }

  get signed(): SignedAttempt[] {
    return this.all.filter((attempt): attempt is SignedAttempt => attempt.signed !== null);
  }

  /**
   * What the chain has included. More than one only if two were executed: all attempts use up the same resources or were issued
   * after proof. A block that the follower has not scanned yet does not count beside one that it has.
   */
  get inclusions(): Inclusion[] {
    const all = this.all.flatMap(({ inclusion }) => inclusion ?? []);
    const scanned = all.filter(({ depth }) => depth > 0n);
    return scanned.length > 0 ? scanned : all.slice(0, 1);
  }

  get hasCancellation(): boolean {
    return this.all.some(({ kind }) => kind === 'cancellation');
  }

  /** Those that its first cancellation takes the place of; all, where there is none. */
  get cancelled(): Attempts {
    const at = this.all.findIndex(({ kind }) => kind === 'cancellation');
    return at < 0 ? this : new Attempts(this.all.slice(0, at));
  }

  /** Those that were there when this one was begun. */
  before({ attempt }: Attempt): Attempts {
    return new Attempts(this.all.filter((candidate) => candidate.attempt < attempt));
  }

  /** Abandoned: from its first cancellation on, nothing else is signed for the transfer. */
  get isAbandoned(): boolean {
    return this.isOnRecord || this.hasCancellation;
  }

  /** True when an attempt consists of these very bytes. */
  knows(unsigned: Hex): boolean {
    return this.all.some((attempt) => attempt.unsigned === unsigned);
  }

  /** A chain node has accepted one of them, or the chain has included it. */
  get isKnownToChain(): boolean {
    return this.all.some(({ isBroadcast, inclusion }) => isBroadcast || inclusion);
  }

  /** Their status on the chain comes before anything else; so it does for one that is signed in place of an earlier one. */
  get isFollowed(): boolean {
    return this.isKnownToChain || this.isAbandoned || this.all.length > 1;
  }

  /** There are attempts, and none of them can ever be executed: a proof against one that is included is false. */
  get allImpossible(): boolean {
    return this.all.length > 0 && this.all.every(({ impossibleProof, inclusion }) => impossibleProof && !inclusion);
  }

  /** The same, and nothing else that was signed for the transaction can be executed, on record or not. */
  get endsByProof(): boolean {
    return this.allImpossible && this.all.every(({ impossibleProof }) => impossibleProof?.ends === true);
  }
}

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
  signing_begun_at: Date;
  tx_hash: string | null;
  signed: Hex | null;
  broadcast_at: Date | null;
  included_id: string | null;
  block_number: string | null;
  block_hash: string | null;
  success: boolean | null;
  fee: string | null;
  debited: string | null;
  received: string | null;
  depth: string;
  is_contradicted: boolean;
  is_abandoned: boolean;
}

/** Keeps inclusions as they are until the end of the database transaction. Call it under the lock of the transaction. */
export async function lockAttempts(manager: EntityManager, txId: string): Promise<void> {
  await manager.query('select from transfer_attempts where tx_id = $1 order by attempt for share', [txId]);
}

/** An inclusion in a block that the follower has not found at its height is left out. */
export async function loadAttempts(manager: EntityManager, txId: string): Promise<Attempts> {
  const rows = await manager.query<Row[]>(
    // one statement, one snapshot: a roll-back moves the cursor and clears inclusions together
    `select a.*, coalesce(c.next_block - a.block_number, 0) as depth, t.cancellation_reason is not null as is_abandoned,
            a.block_number is not null and ${isContradicted} as is_contradicted,
            array(select i.id from attempt_ids i where i.tx_id = a.tx_id and i.attempt = a.attempt order by i.id) as ids
       from transfer_attempts a join transactions t on t.tx_id = a.tx_id left join chain_cursors c on c.chain = a.chain
      where a.tx_id = $1 order by a.attempt`,
    [txId],
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
    isBroadcast: row.broadcast_at !== null,
    impossibleProof: row.impossible_proof,
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
    depth: BigInt(row.depth),
  };
}

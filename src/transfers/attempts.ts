import type { ImpossibleProof } from '../chains/chain-client';
import type { AttemptKind, Hex, InclusionEffect, JsonObject, Prepared } from '../chains/types';
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
  signedAt: Date | null;
  /** A chain node has accepted it. */
  isBroadcast: boolean;
  /** Why it can never be executed any more. */
  impossibleProof: ImpossibleProof | null;
  /** There is a proof on one endpoint's word, which does not count. */
  isProofDoubted: boolean;
  inclusion: Inclusion | null;
}

export type SignedAttempt = Attempt & { signed: NonNullable<Attempt['signed']> };

/** What the chain did with an attempt that it has included. */
export interface Inclusion extends Omit<InclusionEffect, 'blockNumber'> {
  kind: AttemptKind;
  /** The id under which it is included. */
  hash: string;
  blockNumber: bigint;
  /** Every configured endpoint has shown it, so many; null: not yet. */
  agreedBy: number | null;
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
    // one transaction of the chain may carry out several attempts
    const byHash = new Map(this.all.flatMap(({ inclusion }) => (inclusion ? [[inclusion.hash, inclusion] as const] : [])));
    const all = [...byHash.values()];
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

  /**
   * Id of the transaction that has used up what they were to spend themselves, where a proof names one: not what keeps an ancestor of it from
   * being made.
   */
  get usedBy(): string | null {
    const found = this.all.find(
      ({ impossibleProof: proof }) => proof && proof.ancestor === undefined && proof.used_by !== undefined,
    );
    return found?.impossibleProof?.used_by ?? null;
  }

  /** The same, and nothing else that was signed for the transaction can be executed, on record or not. */
  get endsByProof(): boolean {
    return this.allImpossible && this.all.every(({ impossibleProof }) => impossibleProof?.ends === true);
  }
}

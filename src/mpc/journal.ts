import type { KeyObject } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { Hex } from '../chains/types';
import { GatewayError } from '../platform/errors';
import { fromHex, toHex } from '../platform/hex';
import { Semaphore } from '../platform/semaphore';
import type { NodeIndex } from '../messages/nodes';
import type { AdmissionRequest, JournalEntry, SessionEnd } from './admission';
import { entryFields } from './journal-entry';
import { signStatement, type SignedStatement } from './statement';

/**
 * Sessions of one (key, peer) that ended without a signature after this node had sent something that depends on its share, in a way
 * that may have told the peer something (src/mpc/signature-task.ts). At this number the peer is banned; together with the sessions that
 * still run there are never more. A peer that is down, overloaded or busy before its share is asked for is never counted, however
 * often that happens.
 */
export const maxFailedSessions = 32;

/**
 * Entries about one payload with one peer in an hour. An hour of tries by the workflow makes 40 of them: more is a peer that begins sessions and
 * leaves them, to fill this node's disk.
 */
const maxTries = 1_000;

/** Highest sums over 24 hours, atomic units; null: none. */
export interface SumLimit {
  key: bigint | null;
  node: bigint | null;
}

/** By name: canonical contract, empty for the native coin; `houseGas`; `feeSum`. */
export type SumLimits = ReadonlyMap<string, SumLimit>;

export interface AdmissionBounds {
  sums: SumLimits;
  /** By a limit that does not need the journal. */
  isRefused: boolean;
  /** Number of the entry that the mark names: a database without it was replaced. */
  marked: number | null;
}

export type Verdict =
  | { verdict: 'admitted' | 'unfrozen'; entry: JournalEntry }
  | { verdict: 'recorded'; signature: Hex }
  | { verdict: 'blacklisted' | 'refused' | 'other_digests' | 'unrelated' | 'unproven' | 'banned' | 'busy' | 'exhausted' }
  | { verdict: 'key_limit' | 'node_limit' | 'key_fees' | 'node_fees' | 'behind' };

/** As migrations/mpc-node/0011-fee-sums.ts reads them. */
const toJson = (sums: SumLimits): string =>
  JSON.stringify(
    Object.fromEntries(
      [...sums].map(([name, { key, node }]) => [name, { key: key?.toString() ?? null, node: node?.toString() ?? null }]),
    ),
  );

interface Row {
  verdict: Verdict['verdict'];
  recorded: Buffer | null;
}

/** Entries are written one at a time: more cannot wait than there are sessions, and none longer than the peer waits for an answer. */
const writing = { permits: 1, maxWaiting: 512, maxWaitMs: 2_000 };

/** What this node has agreed to sign, in its own database: one statement to admit a signature, one for how its session ended. */
export class Journal {
  private lastNumber = 0;
  private readonly turns = new Semaphore(writing);
  /** Entries of this process whose end is not stored. */
  private readonly live = new Set<number>();

  constructor(
    private readonly database: DataSource,
    private readonly self: NodeIndex,
    private readonly signingKey: KeyObject,
  ) {}

  /** Later entries get higher numbers, even if the clock was set back. */
  continueAfter(number: number): void {
    this.lastNumber = Math.max(this.lastNumber, number);
  }

  /**
   * Checks and writes an entry in one database transaction (migrations/mpc-node/0015-proofs.ts). One at a time, so that entries are
   * committed in the order of their numbers: a database that has one has every older one. (Not one whose answer was lost: of it no
   * session begins.) `copy`: the peer's entry.
   * @throws GatewayError signers_unavailable when too many wait
   */
  async admit(request: AdmissionRequest, bounds: AdmissionBounds, copy?: SignedStatement): Promise<Verdict> {
    if (!(await this.turns.acquire()))
      throw new GatewayError('signers_unavailable', `node ${this.self} writes too many journal entries at once`);
    try {
      return await this.write(request, bounds, copy);
    } finally {
      this.turns.release();
    }
  }

  private async write(
    request: AdmissionRequest,
    { sums, isRefused, marked }: AdmissionBounds,
    copy?: SignedStatement,
  ): Promise<Verdict> {
    const at = new Date();
    // rises with the clock: a number is not used again after a restored backup, when the newest one is unknown
    this.lastNumber = Math.max(this.lastNumber + 1, at.getTime() * 1000);
    const number = this.lastNumber;
    const statement = signStatement('entry', entryFields(this.self, number, request, at.toISOString()), this.signingKey);
    const [row] = await this.database.query<Row[]>(
      'select verdict, recorded from admit_attempt($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)',
      [
        statement.text,
        statement.signature,
        request.spends.recipients,
        request.onBehalfOf ?? null,
        request.order.jti,
        request.order.compact,
        request.order.unsigned,
        isRefused,
        maxFailedSessions,
        maxTries,
        toJson(sums),
        marked,
        copy?.text ?? null,
        copy?.signature ?? null,
      ],
    );
    if (!row) throw new Error('the journal gave no verdict');
    const { verdict, recorded } = row;
    switch (verdict) {
      case 'recorded':
        return { verdict, signature: toHex(recorded as Buffer) };
      case 'admitted':
      case 'unfrozen':
        this.live.add(number);
        return { verdict, entry: { number, request, statement, isUnfrozen: verdict === 'unfrozen' } };
      default:
        return { verdict };
    }
  }

  /** Returns how many sessions with this peer by this key have failed, if this one has, else 0; null when the entry is gone. A second end has no effect. */
  async finish({ number }: JournalEntry, { outcome, signature, session, copy }: SessionEnd): Promise<number | null> {
    const [row] = await this.database.query<{ failed: string | null }[]>(
      'select finish_signature($1, $2, $3, $4, $5, $6) as failed',
      [number, outcome, signature === null ? null : fromHex(signature), session, copy?.text ?? null, copy?.signature ?? null],
    );
    this.live.delete(number);
    return row?.failed ? Number(row.failed) : null;
  }

  /**
   * Entries without an end whose session does not run: of an earlier process, or of an answer or an end that the database has lost. No
   * peer is to blame for them. `olderThanMs`: leaves those that are being admitted now.
   */
  async closeInterrupted(olderThanMs = 0): Promise<void> {
    await this.database.query(
      `update journal set outcome = 'interrupted', ended_at = clock_timestamp()
        where outcome is null and number <> all ($1) and admitted_at <= clock_timestamp() - $2 * interval '1 millisecond'`,
      [[...this.live], olderThanMs],
    );
  }
}

import type { LiveStatus } from '../messages/progress';
import { setBounded } from '../platform/bounded';
import type { TransactionEntity } from './entity';

/** Returns the current step of a transfer; null when it is not available immediately. Never throws. */
export interface LiveStatusSource {
  live(txId: string): Promise<LiveStatus | null>;
}

/** Each query is a task of the worker that runs the workflow. Times in milliseconds. */
const defaultLimits = {
  /** How long an answer is shown, while the state of the transfer's row is the same. */
  maxAgeMs: 1_000,
  /** Of all transfers together, by this process. */
  queriesPerSecond: 20,
  maxEntries: 10_000,
};

interface Entry {
  version: number;
  askedAt: number;
  answer: Promise<LiveStatus | null>;
}

/**
 * Asks the workflow of a transfer at most once a second, and all workflows together at most so often, however many clients poll: they
 * share one query and its answer. Beyond that there is no live status, and rows are read as ever.
 */
export class LiveStatusCache {
  private readonly entries = new Map<string, Entry>();
  /** When the newest queries were sent, oldest first. */
  private readonly sentAt: number[] = [];
  private readonly limits: typeof defaultLimits;

  constructor(
    private readonly source: LiveStatusSource,
    limits: Partial<typeof defaultLimits> = {},
  ) {
    this.limits = { ...defaultLimits, ...limits };
  }

  /**
   * @param transaction its row, read before: what the workflow has answered about an earlier state is not shown with a later one, and of
   * one that has ended nothing is asked
   */
  async get({
    txId,
    version,
    isSigned,
    endedAt,
  }: Pick<TransactionEntity, 'txId' | 'version' | 'isSigned' | 'endedAt'>): Promise<LiveStatus | null> {
    if (!isSigned || endedAt !== null) return null;
    const entry = this.entries.get(txId);
    const now = performance.now();
    if (entry && now - entry.askedAt < this.limits.maxAgeMs) return entry.version === version ? entry.answer : null;
    if (!this.mayAsk(now)) return null;
    const answer = this.source.live(txId);
    setBounded(this.entries, txId, { version, askedAt: now, answer }, this.limits.maxEntries);
    return answer;
  }

  private mayAsk(now: number): boolean {
    while (this.sentAt.length > 0 && now - (this.sentAt[0] ?? 0) >= 1_000) this.sentAt.shift();
    if (this.sentAt.length >= this.limits.queriesPerSecond) return false;
    this.sentAt.push(now);
    return true;
  }
}

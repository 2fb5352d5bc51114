import { RateLimiterMemory, RateLimiterPostgres, type RateLimiterRes, RLWrapperTimeouts } from 'rate-limiter-flexible';
import type { DataSource } from 'typeorm';
import { setBounded } from '../../platform/bounded';

const table = 'request_budgets';
/** Postgres that takes longer counts as not answering: no request waits for its budget. */
const answerWithinMs = 500;
/** Part of a budget that a process takes at a time. */
const sliceShare = 1 / 20;
const maxKeys = 20_000;

export interface Quota {
  /** Names the policy in headers and metrics. */
  name: string;
  /** Requests per window. */
  limit: number;
  windowSeconds: number;
}

/** What is left of a key's quota. */
export interface QuotaStatus {
  quota: Quota;
  allowed: boolean;
  remaining: number;
  /** Until the whole quota is there again; at least 1. */
  resetSeconds: number;
}

/** Counts points of a key: the part of a limiter that is used. */
export type Counter = Pick<RLWrapperTimeouts, 'penalty'>;

interface LocalAllowance {
  /** Taken from the shared budget and not yet spent. */
  left: number;
  /** Not yet taken by any process, as last seen. */
  unclaimed: number;
  /** Milliseconds since the epoch. */
  until: number;
}

interface Waiter {
  resolve: (standing: QuotaStatus) => void;
  reject: (error: unknown) => void;
}

/**
 * A quota per key and window that all API processes share. A process takes it from Postgres in slices of a twentieth
 * and spends them in memory, so that most requests ask nobody. Together the processes never allow more than the quota;
 * a key can be refused early by what the others hold of it, less than a slice each. While Postgres does not answer,
 * every process counts alone.
 */
export class DistributedQuota {
  private readonly purses = new Map<string, LocalAllowance>();
  private readonly waiting = new Map<string, Waiter[]>();
  private readonly slice: number;

  constructor(
    readonly quota: Quota,
    private readonly counter: Counter,
    private readonly now: () => number = Date.now,
  ) {
    this.slice = Math.ceil(quota.limit * sliceShare);
  }

  /** Spends one request of the key's quota, if there is one. */
  take(key: string): Promise<QuotaStatus> | QuotaStatus {
    const waiting = this.waiting.get(key);
    const purse = this.purses.get(key);
    if (!waiting && purse && purse.until > this.now() && isSettled(purse)) return this.spend(purse);
    return new Promise<QuotaStatus>((resolve, reject) => {
      if (waiting) return void waiting.push({ resolve, reject });
      const waiters = [{ resolve, reject }];
      this.waiting.set(key, waiters);
      void this.refill(key, waiters);
    });
  }

  /** Takes slices until nobody waits. A slice is as large as what waits for it, so every round gets on. */
  private async refill(key: string, waiters: Waiter[]): Promise<void> {
    try {
      while (waiters.length > 0) {
        const purse = await this.fetch(key, Math.max(this.slice, waiters.length));
        setBounded(this.purses, key, purse, maxKeys);
        while (waiters.length > 0 && isSettled(purse)) waiters.shift()?.resolve(this.spend(purse));
      }
    } catch (error) {
      for (const { reject } of waiters) reject(error);
    } finally {
      this.waiting.delete(key);
    }
  }

  private async fetch(key: string, points: number): Promise<LocalAllowance> {
    const { consumedPoints, msBeforeNext }: RateLimiterRes = await this.counter.penalty(key, points);
    const { limit } = this.quota;
    const left = Math.max(0, Math.min(points, limit - (consumedPoints - points)));
    return { left, unclaimed: Math.max(0, limit - consumedPoints), until: this.now() + msBeforeNext };
  }

  private spend(purse: LocalAllowance): QuotaStatus {
    const allowed = purse.left > 0;
    if (allowed) purse.left -= 1;
    return {
      quota: this.quota,
      allowed,
      remaining: purse.left + purse.unclaimed,
      resetSeconds: Math.max(1, Math.ceil((purse.until - this.now()) / 1000)),
    };
  }
}

/** True when the purse alone tells whether a request is allowed. */
const isSettled = ({ left, unclaimed: beyond }: LocalAllowance): boolean => left > 0 || beyond === 0;

/** Counts in Postgres, and in memory while that has no answer. */
export function sharedCounter(database: DataSource, { name, limit, windowSeconds }: Quota): Counter {
  const options = { keyPrefix: name, points: limit, duration: windowSeconds };
  return new RLWrapperTimeouts({
    timeoutMs: answerWithinMs,
    // the table comes with the migrations: no DDL at run time
    limiter: new RateLimiterPostgres({
      ...options,
      storeClient: database,
      storeType: 'typeorm',
      tableName: table,
      tableCreated: true,
    }),
    insuranceLimiter: new RateLimiterMemory(options),
  });
}

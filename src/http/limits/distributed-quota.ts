import { RateLimiterMemory, type RateLimiterRes, RLWrapperTimeouts } from 'rate-limiter-flexible';
import type { DataSource } from 'typeorm';
import { setBounded } from '../../platform/bounded';
import { postgresLimiter } from './postgres-limiter';

const table = 'request_quotas';
const defaultStoreTimeoutMs = 500;
/** Part of a quota that a process claims at a time. */
const sliceShare = 1 / 20;
const maxKeys = 20_000;

export interface Quota {
  /** Name of the policy in headers and metrics. */
  name: string;
  /** Requests per window. */
  limit: number;
  windowSeconds: number;
}

/** The remaining quota of a key. */
export interface QuotaStatus {
  quota: Quota;
  allowed: boolean;
  remaining: number;
  /** Seconds until the full quota is available again; at least 1. */
  resetSeconds: number;
}

/** Counts points of a key: the part of a rate limiter that is used here. */
export type Counter = Pick<RLWrapperTimeouts, 'penalty'>;

interface LocalAllowance {
  /** Claimed from the shared quota and not spent yet. */
  remaining: number;
  /** Not claimed by any process, when last read. */
  unclaimed: number;
  /** End of the window, in milliseconds since the epoch. */
  until: number;
}

interface Waiter {
  resolve: (status: QuotaStatus) => void;
  reject: (error: unknown) => void;
}

/**
 * A quota per key and window, shared by all API processes. A process claims it from Postgres in slices of a twentieth and spends them
 * in memory, so that most requests need no query. Together the processes never allow more than the quota; a key can be refused early
 * because of what other processes have claimed and not spent, less than a slice each. While Postgres does not respond, each process
 * counts on its own.
 */
export class DistributedQuota {
  private readonly allowances = new Map<string, LocalAllowance>();
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
    const allowance = this.allowances.get(key);
    if (!waiting && allowance && allowance.until > this.now() && isDecisive(allowance)) return this.spend(allowance);
    return new Promise<QuotaStatus>((resolve, reject) => {
      if (waiting) return void waiting.push({ resolve, reject });
      const waiters = [{ resolve, reject }];
      this.waiting.set(key, waiters);
      void this.refill(key, waiters);
    });
  }

  /** Claims slices until no request waits. A slice covers at least all waiting requests, so every iteration makes progress. */
  private async refill(key: string, waiters: Waiter[]): Promise<void> {
    try {
      while (waiters.length > 0) {
        const allowance = await this.claim(key, Math.max(this.slice, waiters.length));
        setBounded(this.allowances, key, allowance, maxKeys);
        while (waiters.length > 0 && isDecisive(allowance)) waiters.shift()?.resolve(this.spend(allowance));
      }
    } catch (error) {
      for (const { reject } of waiters) reject(error);
    } finally {
      this.waiting.delete(key);
    }
  }

  private async claim(key: string, points: number): Promise<LocalAllowance> {
    const { consumedPoints, msBeforeNext }: RateLimiterRes = await this.counter.penalty(key, points);
    const { limit } = this.quota;
    const remaining = Math.max(0, Math.min(points, limit - (consumedPoints - points)));
    return { remaining, unclaimed: Math.max(0, limit - consumedPoints), until: this.now() + msBeforeNext };
  }

  private spend(allowance: LocalAllowance): QuotaStatus {
    const allowed = allowance.remaining > 0;
    if (allowed) allowance.remaining -= 1;
    return {
      quota: this.quota,
      allowed,
      remaining: allowance.remaining + allowance.unclaimed,
      resetSeconds: Math.max(1, Math.ceil((allowance.until - this.now()) / 1000)),
    };
  }
}

/** True when the local allowance decides whether a request is allowed. */
const isDecisive = ({ remaining, unclaimed }: LocalAllowance): boolean => remaining > 0 || unclaimed === 0;

/** Counts in Postgres, or in memory where Postgres takes longer than `storeTimeoutMs`: requests do not wait for the quota. */
export function sharedCounter(
  database: DataSource,
  { name, limit, windowSeconds }: Quota,
  storeTimeoutMs = defaultStoreTimeoutMs,
): Counter {
  const options = { keyPrefix: name, points: limit, duration: windowSeconds };
  return new RLWrapperTimeouts({
    timeoutMs: storeTimeoutMs,
    limiter: postgresLimiter(database, table, options),
    insuranceLimiter: new RateLimiterMemory(options),
  });
}

import { createHash } from 'node:crypto';
import { type RateLimiterAbstract, RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { DataSource } from 'typeorm';
import { network } from '../platform/network';
import { postgresLimiter } from '../http/limits/postgres-limiter';
import { tooMany } from '../http/limits/refusals';

const failures = { points: 10, duration: 60 } as const;
const table = 'login_failures';

/**
 * Limits failed logins to ten per minute from one address and with one API key. They are counted in Postgres for all API processes
 * together, and in memory while Postgres does not respond. Only failures count, and a correct secret is refused only because of
 * failures from the same address: somebody who knows a client's API key but not its secret cannot lock that client out.
 */
export class LoginThrottle {
  private readonly limiters: { address: RateLimiterAbstract; key: RateLimiterAbstract };

  constructor(database: DataSource) {
    this.limiters = { address: limiter(database, 'address'), key: limiter(database, 'key') };
  }

  /** @throws GatewayError rate_limited when the address has failed too often. */
  async assertAllowed(address: string): Promise<void> {
    refuseAbove(await this.limiters.address.get(network(address)), failures.points - 1);
  }

  /** Counts a failure. @throws GatewayError rate_limited when it was one too many. */
  async countFailure(address: string, apiKey: string): Promise<void> {
    const [byAddress, byKey] = await Promise.all([
      this.limiters.address.penalty(network(address)),
      this.limiters.key.penalty(createHash('sha256').update(apiKey).digest('base64url')),
    ]);
    refuseAbove(byAddress, failures.points);
    refuseAbove(byKey, failures.points);
  }
}

function limiter(database: DataSource, keyPrefix: string): RateLimiterAbstract {
  const memory = new RateLimiterMemory({ ...failures, keyPrefix });
  return postgresLimiter(database, table, { ...failures, keyPrefix }, memory);
}

function refuseAbove(result: RateLimiterRes | null, allowed: number): void {
  if (!result || result.consumedPoints <= allowed) return;
  const retryAfterSeconds = Math.max(1, Math.ceil(result.msBeforeNext / 1000));
  throw tooMany('login', 'Too many failed logins: wait and try again', retryAfterSeconds);
}

import { type IRateLimiterOptions, type RateLimiterAbstract, RateLimiterPostgres } from 'rate-limiter-flexible';
import type { DataSource } from 'typeorm';

/** Counts in a table that a migration has created: no DDL at run time. @param insurance counts while Postgres does not respond */
export const postgresLimiter = (
  database: DataSource,
  tableName: string,
  options: IRateLimiterOptions,
  insurance?: RateLimiterAbstract,
): RateLimiterAbstract =>
  new RateLimiterPostgres({
    ...options,
    storeClient: database,
    storeType: 'typeorm',
    tableName,
    tableCreated: true,
    ...(insurance && { insuranceLimiter: insurance }),
  });

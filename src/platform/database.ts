import { DataSource, type EntityManager, QueryFailedError, type QueryRunner } from 'typeorm';
import { GatewayError } from './errors';

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Entity classes: src/entities.ts; a parameter, since platform must not import resources. */
  entities: (new () => object)[];
  /** migrations/index.ts, for processes that run them. */
  migrations?: (new () => object)[];
  /** Time-out of statements. */
  statementTimeoutMs?: number;
}

/** The client's time-out is this much longer than the server's, for a server that hangs and does not apply its own. */
const clientMarginMs = 2_000;

/**
 * The gateway's Postgres database. Statements, responses and connection attempts have time-outs, so that a slow or hanging database
 * results in errors and not in a growing number of waiting requests. Commits are durable independent of the server's default: a
 * transfer that was accepted must survive a crash.
 */
export function createDatabase(options: DatabaseOptions): DataSource {
  const { url, poolSize, applicationName, entities, migrations = [], statementTimeoutMs = 15_000 } = options;
  return new DataSource({
    type: 'postgres',
    url,
    entities,
    migrations,
    migrationsTableName: 'migrations',
    synchronize: false,
    applicationName,
    poolSize,
    extra: {
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 30_000,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + clientMarginMs,
      options: '-c synchronous_commit=on',
      idle_in_transaction_session_timeout: 30_000,
      keepAlive: true,
    },
    // a broken idle connection must not end the process; the next query opens a new one
    poolErrorHandler: () => undefined,
  });
}

const transientStates = new Set(['40001', '40P01', '55P03']);
const connectionStates = /^(08|53|57P)/;

/** True when the database was unreachable or out of resources, so that the same request can succeed later. */
export function isDatabaseDown(error: unknown): boolean {
  const cause = error instanceof QueryFailedError ? (error.driverError as unknown) : error;
  const { code, message } = (cause ?? {}) as { code?: string; message?: string };
  // 57014: statement_timeout; the same statement can succeed later
  if (code && (connectionStates.test(code) || code === '57014' || /^E(CONN|PIPE|HOST|TIMEDOUT|AI_AGAIN)/.test(code))) return true;
  return /connection terminated|timeout exceeded when trying to connect|query read timeout|terminating connection|the database system is|Driver not Connected|not queryable/i.test(
    message ?? '',
  );
}

/**
 * Runs a database transaction, up to 5 times when Postgres reports a serialization failure, a deadlock or a lock time-out.
 * @throws GatewayError unavailable when the database is unreachable.
 */
export async function inTransaction<T>(database: DataSource, work: (manager: EntityManager) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once(database, work);
    } catch (error) {
      const state = error instanceof QueryFailedError ? (error.driverError as { code?: string }).code : undefined;
      if (state && transientStates.has(state) && attempt < 5) {
        await new Promise((resolve) => setTimeout(resolve, attempt * 10 * Math.random() + 5));
        continue;
      }
      if (isDatabaseDown(error))
        throw new GatewayError('unavailable', 'The database is unreachable', { cause: error, retryAfterSeconds: 5 });
      throw error;
    }
  }
}

async function once<T>(database: DataSource, work: (manager: EntityManager) => Promise<T>): Promise<T> {
  const runner = database.createQueryRunner();
  try {
    await runner.startTransaction();
    const result = await work(runner.manager);
    await runner.commitTransaction();
    return result;
  } catch (error) {
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => discardConnection(runner));
    throw error;
  } finally {
    await runner.release();
  }
}

/** Destroys a connection whose rollback failed: in the pool, its next user would commit the open transaction. */
async function discardConnection(runner: QueryRunner): Promise<void> {
  const client = (await runner.connect()) as { connection: { stream: { destroy(): void } } };
  client.connection.stream.destroy();
}

import { DataSource, type EntityManager, QueryFailedError, type QueryRunner } from 'typeorm';
import { allInOrder } from './all-in-order';
import { findCommitOutcome } from './commit-outcome';
import { DatabaseClient } from './database-client';
import { GatewayError } from './errors';

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Entity classes: src/entities.ts; a parameter, since platform must not import resources. */
  entities?: (new () => object)[];
  /** migrations/index.ts, for processes that run them. */
  migrations?: (new () => object)[];
  /** Time-out of statements. */
  statementTimeoutMs?: number;
  /** Time-out of waiting for a lock; none without it, but for that of the statement. */
  lockTimeoutMs?: number;
  /** Time-out of connection attempts, and of waiting for a connection of the pool. */
  connectTimeoutMs?: number;
}

/** The client's time-out is this much longer than the server's, for a server that hangs and does not apply its own. */
const clientMarginMs = 2_000;

/**
 * A Postgres database: the gateway's, or a signing node's own. Statements, responses and connection attempts have time-outs, so that a
 * slow or hanging database results in errors and not in a growing number of waiting requests. Commits are durable independent of the
 * server's default: a transfer that was accepted, and a share that was reported as stored, must survive a crash.
 */
export function createDatabase(options: DatabaseOptions): DataSource {
  const { url, poolSize, applicationName, entities = [], migrations = [] } = options;
  const { statementTimeoutMs = 15_000, lockTimeoutMs, connectTimeoutMs = 5_000 } = options;
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
      Client: DatabaseClient,
      connectionTimeoutMillis: connectTimeoutMs,
      // a new connection costs the server some 50 ms of processor time until its caches are filled: a burst must not pay that again
      idleTimeoutMillis: 0,
      // also frees what a connection keeps prepared
      maxLifetimeSeconds: 3_600,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + clientMarginMs,
      ...(lockTimeoutMs !== undefined && { lock_timeout: lockTimeoutMs }),
      options: '-c synchronous_commit=on',
      idle_in_transaction_session_timeout: 30_000,
      keepAlive: true,
    },
    // a broken idle connection must not end the process; the next query opens a new one
    poolErrorHandler: () => undefined,
  });
}

const lockNotAvailable = '55P03';
const transientStates = new Set(['40001', '40P01', lockNotAvailable]);
const connectionStates = /^(08|53|57P)/;

/** True when the database was unreachable or out of resources, so that the same request can succeed later. */
export function isDatabaseDown(error: unknown): boolean {
  const cause = error instanceof QueryFailedError ? (error.driverError as unknown) : error;
  const { code, message } = (cause ?? {}) as { code?: string; message?: string };
  // 57014: statement_timeout; the same statement can succeed later
  if (code && (connectionStates.test(code) || code === '57014' || /^E(CONN|PIPE|HOST|TIMEDOUT|AI_AGAIN)/.test(code))) return true;
  return /connection terminated|timeout exceeded when trying to connect|query read timeout|terminating connection|the database system is|Driver not Connected|not queryable|query runner already released/i.test(
    message ?? '',
  );
}

const sqlStateOf = (error: unknown): string | undefined =>
  error instanceof QueryFailedError ? (error.driverError as { code?: string }).code : undefined;

/** Whether the same database transaction can succeed later: the database is away, or others were in its way. */
export function isTransient(error: unknown): boolean {
  const state = sqlStateOf(error);
  return (state !== undefined && transientStates.has(state)) || isDatabaseDown(error);
}

export interface TransactionOptions<T, Read = undefined> {
  /**
   * Statements that are sent together with those that start the transaction, without waiting for their answers; the work gets what it resolves
   * to. It must only read: should the start fail, these are carried out all the same.
   */
  read?: (manager: EntityManager) => Promise<Read>;
  /** A row that is locked for longer makes the call fail with `unavailable`, which is not tried again here. */
  lockTimeoutMs?: number;
  /** The server ends a transaction that is open for longer (Postgres 17 and later), and one that is idle for as long. */
  timeoutMs?: number;
  /**
   * Whether the result is in the database. Asked when the answer to COMMIT was lost and the server reports the transaction's id as
   * committed: a server that crashed may have given that id to another transaction.
   */
  isStored?: (manager: EntityManager, result: T) => Promise<boolean>;
}

/** Of a request's writes: well below the time a request may take. */
export const requestTransaction = { lockTimeoutMs: 2_000, timeoutMs: 15_000 } as const;

/**
 * Runs a database transaction, up to 5 times when Postgres reports a serialization failure, a deadlock or a lock time-out. When the
 * answer to COMMIT is lost, the outcome is looked up before this returns. It holds one connection at a time.
 * @throws GatewayError unavailable when the database is unreachable or a row stays locked: nothing was written;
 * outcome_unknown when it cannot be found out whether the transaction was committed.
 */
export async function inTransaction<T, Read = undefined>(
  database: DataSource,
  work: (manager: EntityManager, read: Read) => Promise<T>,
  options: TransactionOptions<T, Read> = {},
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once(database, work, options);
    } catch (error) {
      const state = sqlStateOf(error);
      if (state === lockNotAvailable && options.lockTimeoutMs !== undefined)
        throw new GatewayError('unavailable', 'Other requests hold what this one has to change; nothing was written', {
          cause: error,
          retryAfterSeconds: 1,
        });
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

/**
 * Reads what a request has committed, for its answer: where the database does not answer by then, the request is carried out all the same.
 * @throws GatewayError outcome_unknown with the members `extra`; not unavailable, which says that nothing was written.
 */
export async function readCommitted<T>(read: () => Promise<T>, extra: Record<string, string> = {}): Promise<T> {
  return read().catch((error: unknown) => {
    if (!isDatabaseDown(error)) throw error;
    throw new GatewayError(
      'outcome_unknown',
      'The request was carried out, but the database did not answer when its outcome was read',
      {
        cause: error,
        retryAfterSeconds: 2,
        extra,
      },
    );
  });
}

async function once<T, Read>(
  database: DataSource,
  work: (manager: EntityManager, read: Read) => Promise<T>,
  options: TransactionOptions<T, Read>,
): Promise<T> {
  const runner = database.createQueryRunner();
  let commit: { result: T; transactionId: string } | undefined;
  let lost: unknown;
  try {
    const { transactionId, read } = await startTransaction(runner, options);
    const result = await work(runner.manager, read);
    commit = { result, transactionId };
    await runner.commitTransaction();
    return result;
  } catch (error) {
    if (!commit || isRefusedByServer(error)) {
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => discardConnection(runner));
      // a savepoint whose rollback got no answer leaves the outer transaction open
      if (runner.isTransactionActive) await discardConnection(runner);
      throw error;
    }
    lost = error;
    await discardConnection(runner);
  } finally {
    await runner.release();
  }
  const { result, transactionId } = commit;
  const isStored = options.isStored ? () => options.isStored?.(database.manager, result) : undefined;
  const outcome = await findCommitOutcome(database, transactionId, isStored);
  if (outcome === 'committed') return result;
  if (outcome === 'aborted') throw lost;
  throw new GatewayError('outcome_unknown', 'It is not known whether the request was carried out: the database did not answer', {
    cause: lost,
    retryAfterSeconds: 2,
  });
}

/**
 * Starts a transaction with its time-outs and assigns the id under which the server remembers the outcome: now, since it would
 * otherwise have to be asked for right before COMMIT, while others wait for the rows that are locked by then.
 */
async function startTransaction<T, Read>(
  runner: QueryRunner,
  { lockTimeoutMs, timeoutMs, read }: TransactionOptions<T, Read>,
): Promise<{ transactionId: string; read: Read }> {
  const client = (await runner.connect()) as DatabaseClient;
  const started = client.nextSent();
  const [[row], , answer] = await allInOrder([
    // a setting that the server does not have has no current value
    started.then(() =>
      runner.manager.query<{ id: string }[]>(
        `select pg_current_xact_id()::text as id, count(set_config(name, value, true))
           from (values ('lock_timeout', $1::text), ('transaction_timeout', $2), ('idle_in_transaction_session_timeout', $2)) as s (name, value)
          where value is not null and current_setting(name, true) is not null`,
        [lockTimeoutMs?.toString() ?? null, timeoutMs?.toString() ?? null],
      ),
    ),
    runner.startTransaction(),
    // after both
    started.then(() => read?.(runner.manager)),
  ]);
  if (!row) throw new Error('the server gave the transaction no id');
  return { transactionId: row.id, read: answer as Read };
}

/** An ERROR in answer to COMMIT means that it was rolled back. FATAL, or no answer at all, may come after it was carried out. */
function isRefusedByServer(error: unknown): boolean {
  return error instanceof QueryFailedError && (error.driverError as { severity?: string }).severity === 'ERROR';
}

/** Destroys a connection whose rollback failed: in the pool, its next user would commit the open transaction. */
async function discardConnection(runner: QueryRunner): Promise<void> {
  ((await runner.connect()) as DatabaseClient).destroy();
}

import type { DataSource, EntityManager } from 'typeorm';
import type { ChainFamily } from '../chains/types';
import type { GenerateAccountKeyInput } from '../messages/key-generation';
import { inTransaction, requestTransaction } from '../platform/database';
import { GatewayError } from '../platform/errors';
import type { KeyedAccount } from './attested-keys';
import { keyWaitMs } from './key-generation';

/** Requests that wait for a key at the same time: the nodes generate four at once, each in milliseconds, and let eight more wait. */
const maxInFlight = 24;
const maxInFlightPerClient = 8;
/** Tries for one account; every repeated request is one. */
const maxAttempts = 1_000;
/** A repeated request gets the same account id for a day (src/http/idempotency-store.ts). */
const keptHours = 25;
const sweepBatch = 1_000;

/**
 * Accounts that clients have asked for and that wait for a key of their own: rows of account_key_requests. The authoriser orders keys for
 * these alone. A row ends with the insert of its account, or a day later.
 */
export class AccountKeyRequests {
  constructor(private readonly database: DataSource) {}

  /**
   * One more try, in a database transaction of its own. Concurrent tries are counted one after the other.
   * @throws GatewayError unavailable when too many requests wait for a key, or this account was tried too often.
   */
  begin(
    { accountId, walletId, clientId }: KeyedAccount,
    family: ChainFamily,
  ): Promise<Omit<GenerateAccountKeyInput, 'accountId'>> {
    const work = async (manager: EntityManager) => {
      await assertRoom(manager, clientId, accountId);
      const [row] = await manager.query<{ attempts: number; key_id: string | null }[]>(
        `insert into account_key_requests as r (account_id, wallet_id, client_id, family, in_flight_until)
         values ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5))
         on conflict (account_id) do update set attempts = r.attempts + 1, in_flight_until = excluded.in_flight_until
           where (r.wallet_id, r.client_id, r.family) = (excluded.wallet_id, excluded.client_id, excluded.family) and r.attempts < $6
         returning attempts, key_id`,
        [accountId, walletId, clientId, family, keyWaitMs / 1000, maxAttempts],
      );
      if (!row) throw new GatewayError('unavailable', 'Too many tries for this account: use another Idempotency-Key');
      return { keyId: row.key_id ?? `${accountId}.${row.attempts}`, isBindingOrdered: row.key_id !== null };
    };
    return inTransaction(this.database, work, requestTransaction);
  }

  /** Makes room for the next one; the row stays for a repeated request. */
  async giveUp(accountId: string): Promise<void> {
    await this.database.query('update account_key_requests set in_flight_until = clock_timestamp() where account_id = $1', [
      accountId,
    ]);
  }

  /** Forgets those that nobody repeats any more, a bounded number per call. */
  async sweep(): Promise<void> {
    await this.database.query(
      `delete from account_key_requests where account_id in (
         select account_id from account_key_requests where requested_at < now() - interval '${keptHours} hours' limit ${sweepBatch})`,
    );
  }
}

async function assertRoom(manager: EntityManager, clientId: string, accountId: string): Promise<void> {
  await manager.query(`select pg_advisory_xact_lock(hashtext('account_keys_generating'))`);
  const [waiting] = await manager.query<{ all: number; own: number }[]>(
    `select count(*)::int as all, (count(*) filter (where client_id = $1))::int as own
       from account_key_requests where in_flight_until > clock_timestamp() and account_id <> $2`,
    [clientId, accountId],
  );
  if ((waiting?.all ?? 0) >= maxInFlight || (waiting?.own ?? 0) >= maxInFlightPerClient)
    throw new GatewayError('unavailable', 'Too many requests wait for the key of an account', { retryAfterSeconds: 1 });
}

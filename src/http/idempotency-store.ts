import type { DataSource } from 'typeorm';

/** Hours a stored answer is given again. */
const keptHours = 24;
/** A claim whose process has died is free again after this. */
const leaseSeconds = 30;
const sweepBatch = 5_000;
const expired = `k.created_at < now() - interval '${keptHours} hours'`;

export interface StoredAnswer {
  status: number;
  headers: Record<string, string>;
  /** The body as sent, so that a replay is equal to the byte. */
  body: string;
}

export interface Claim {
  clientId: string;
  key: string;
  resourceId: string;
  /** Fences: only the run that holds this lease may finish or release the claim. */
  lease: string;
  firstAttemptAt: Date | null;
}

export type ClaimResult =
  | { outcome: 'claimed'; claim: Claim }
  | { outcome: 'answered'; answer: StoredAnswer }
  | { outcome: 'running' }
  | { outcome: 'reused' };

/** Columns of the claim are null when there is none. */
interface ClaimRow {
  resource_id: string;
  lease: string | null;
  first_attempt_at: Date | null;
}

/** The row as it was before; null when there was none. */
interface KeyRow {
  same: boolean | null;
  /** Nobody runs it and it may be claimed. */
  free: boolean | null;
  response_status: number | null;
  response_headers: Record<string, string> | null;
  response_body: string | null;
}

/** Rows of idempotency_keys: one a client and key, with the id the request creates under and later its answer. */
export class IdempotencyStore {
  constructor(private readonly database: DataSource) {}

  /**
   * One try, no waiting: claims a key that is new, over a day old, or whose earlier run has let go of it. A key whose request
   * runs is only read, so that duplicates do not wait on a connection for the transaction that stores the answer.
   */
  async claim(clientId: string, key: string, fingerprint: Buffer, freshId: string): Promise<ClaimResult> {
    const [row] = await this.database.query<(ClaimRow & KeyRow)[]>(
      `with existing as materialized (
         select fingerprint = $3 as same, response_status, response_headers, response_body #>> '{}' as response_body,
                ${expired} or (response_status is null and leased_until < clock_timestamp() and fingerprint = $3) as free
           from idempotency_keys k where client_id = $1 and key = $2
       ), claimed as (
         insert into idempotency_keys as k (client_id, key, fingerprint, resource_id, leased_until)
         select $1, $2, $3, $4, clock_timestamp() + interval '${leaseSeconds} seconds' where not exists (select from existing where not free)
         on conflict (client_id, key) do update set
           leased_until = excluded.leased_until,
           fingerprint = excluded.fingerprint,
           resource_id = case when ${expired} then excluded.resource_id else k.resource_id end,
           created_at = case when ${expired} then now() else k.created_at end,
           response_status = null, response_headers = null, response_body = null
         where ${expired} or (k.response_status is null and k.leased_until < clock_timestamp() and k.fingerprint = excluded.fingerprint)
         returning resource_id, leased_until::text as lease, case when resource_id <> $4 then created_at end as first_attempt_at
       )
       select claimed.*, existing.* from (select) as one left join claimed on true left join existing on true`,
      [clientId, key, fingerprint, freshId],
    );
    // neither: another request has claimed it since this statement began
    if (!row || (row.lease === null && row.same === null)) return { outcome: 'running' };
    if (row.lease !== null) {
      const { resource_id: resourceId, lease, first_attempt_at: firstAttemptAt } = row;
      return { outcome: 'claimed', claim: { clientId, key, resourceId, lease, firstAttemptAt } };
    }
    if (!row.same) return { outcome: 'reused' };
    if (row.response_status === null || row.free) return { outcome: 'running' };
    return {
      outcome: 'answered',
      answer: { status: row.response_status, headers: row.response_headers ?? {}, body: row.response_body ?? '' },
    };
  }

  /**
   * Stores the answer, in the database transaction of `manager` if one is given. False when the claim is not held any more: another
   * run has taken the key over, or has answered it.
   */
  async finish(claim: Claim, { status, headers, body }: StoredAnswer, manager = this.database.manager): Promise<boolean> {
    const [, finished] = await manager.query<[unknown, number]>(
      `update idempotency_keys set response_status = $4, response_headers = $5, response_body = to_jsonb($6::text)
        where client_id = $1 and key = $2 and leased_until = $3::timestamptz and response_status is null`,
      [claim.clientId, claim.key, claim.lease, status, JSON.stringify(headers), body],
    );
    return finished === 1;
  }

  /** Lets the next try run at once, under the same id. */
  async release({ clientId, key, lease }: Claim): Promise<void> {
    await this.database.query(
      `update idempotency_keys set leased_until = clock_timestamp() - interval '1 second'
        where client_id = $1 and key = $2 and leased_until = $3::timestamptz and response_status is null`,
      [clientId, key, lease],
    );
  }

  /** As if the request had not been made: nothing was begun. One that resumes an earlier try keeps its id, and lets go of it. */
  async forget(claim: Claim): Promise<void> {
    if (claim.firstAttemptAt) return this.release(claim);
    await this.database.query(
      `delete from idempotency_keys
        where client_id = $1 and key = $2 and leased_until = $3::timestamptz and response_status is null`,
      [claim.clientId, claim.key, claim.lease],
    );
  }

  /** Removes rows nobody is answered from any more, a bounded number a call. */
  async sweep(): Promise<void> {
    await this.database.query(
      `delete from idempotency_keys where (client_id, key) in
         (select client_id, key from idempotency_keys where created_at < now() - interval '${keptHours + 1} hours' limit ${sweepBatch})`,
    );
  }
}

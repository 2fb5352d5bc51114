import type { DataSource } from 'typeorm';

/** Hours for which a stored answer is kept. */
const keptHours = 24;
/** A claim is free again after this time, in case its process has died. */
const leaseSeconds = 30;
const sweepBatch = 5_000;
const expired = `k.created_at < now() - interval '${keptHours} hours'`;

export interface StoredAnswer {
  status: number;
  headers: Record<string, string>;
  /** The body as sent, so that a replay has the same bytes. */
  body: string;
}

export interface Claim {
  clientId: string;
  key: string;
  resourceId: string;
  /** Only the run that holds this lease may finish or release the claim. */
  lease: string;
  firstAttemptAt: Date | null;
}

export type ClaimResult =
  | { outcome: 'claimed'; claim: Claim }
  | { outcome: 'answered'; answer: StoredAnswer }
  | { outcome: 'running' }
  | { outcome: 'reused' };

/** The columns of the claim are null when there is none. */
interface ClaimRow {
  resource_id: string;
  lease: string | null;
  first_attempt_at: Date | null;
}

/** The row as it was before; null when there was none. */
interface KeyRow {
  same: boolean | null;
  /** No request holds the lease: the key may be claimed. */
  free: boolean | null;
  response_status: number | null;
  response_headers: Record<string, string> | null;
  response_body: string | null;
}

/** Rows of idempotency_keys, one per client and key, with the id of the resource that the request creates and later its answer. */
export class IdempotencyStore {
  constructor(private readonly database: DataSource) {}

  /**
   * One try, without waiting: claims a key that is new, older than a day, or released by its earlier run. The row of a running
   * request is only read, so that duplicates do not wait on a connection for the transaction that stores the answer.
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
   * Stores the answer, in the database transaction of `manager` if one is given. Returns false when the claim is no longer held:
   * another run has taken over the key or has stored its answer.
   */
  async finish(claim: Claim, { status, headers, body }: StoredAnswer, manager = this.database.manager): Promise<boolean> {
    const [, finished] = await manager.query<[unknown, number]>(
      `update idempotency_keys set response_status = $4, response_headers = $5, response_body = to_jsonb($6::text)
        where client_id = $1 and key = $2 and leased_until = $3::timestamptz and response_status is null`,
      [claim.clientId, claim.key, claim.lease, status, JSON.stringify(headers), body],
    );
    return finished === 1;
  }

  /** Lets the next try run immediately, with the same resource id. */
  async release({ clientId, key, lease }: Claim): Promise<void> {
    await this.database.query(
      `update idempotency_keys set leased_until = clock_timestamp() - interval '1 second'
        where client_id = $1 and key = $2 and leased_until = $3::timestamptz and response_status is null`,
      [clientId, key, lease],
    );
  }

  /**
   * Removes the claim of a request that began nothing. A claim that resumes an earlier try keeps its row and id and is only
   * released.
   */
  async forget(claim: Claim): Promise<void> {
    if (claim.firstAttemptAt) return this.release(claim);
    await this.database.query(
      `delete from idempotency_keys
        where client_id = $1 and key = $2 and leased_until = $3::timestamptz and response_status is null`,
      [claim.clientId, claim.key, claim.lease],
    );
  }

  /** Removes expired rows, a bounded number per call. */
  async sweep(): Promise<void> {
    await this.database.query(
      `delete from idempotency_keys where (client_id, key) in
         (select client_id, key from idempotency_keys where created_at < now() - interval '${keptHours + 1} hours' limit ${sweepBatch})`,
    );
  }
}

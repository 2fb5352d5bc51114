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

interface ClaimRow {
  resource_id: string;
  lease: string;
  resumed_since: Date | null;
}

interface KeyRow {
  same: boolean;
  response_status: number | null;
  response_headers: Record<string, string> | null;
  response_body: string | null;
}

/** Rows of idempotency_keys: one a client and key, with the id the request creates under and later its answer. */
export class IdempotencyStore {
  constructor(private readonly database: DataSource) {}

  /** One try, no waiting: claims a key that is new, over a day old, or whose earlier run has let go of it. */
  async claim(clientId: string, key: string, fingerprint: Buffer, freshId: string): Promise<ClaimResult> {
    const [claimed] = await this.database.query<ClaimRow[]>(
      `insert into idempotency_keys as k (client_id, key, fingerprint, resource_id, leased_until)
       values ($1, $2, $3, $4, clock_timestamp() + interval '${leaseSeconds} seconds')
       on conflict (client_id, key) do update set
         leased_until = excluded.leased_until,
         fingerprint = excluded.fingerprint,
         resource_id = case when ${expired} then excluded.resource_id else k.resource_id end,
         created_at = case when ${expired} then now() else k.created_at end,
         response_status = null, response_headers = null, response_body = null
       where ${expired} or (k.response_status is null and k.leased_until < clock_timestamp() and k.fingerprint = excluded.fingerprint)
       returning resource_id, leased_until::text as lease, case when resource_id <> $4 then created_at end as resumed_since`,
      [clientId, key, fingerprint, freshId],
    );
    if (claimed) {
      const { resource_id: resourceId, lease, resumed_since: firstAttemptAt } = claimed;
      return { outcome: 'claimed', claim: { clientId, key, resourceId, lease, firstAttemptAt: firstAttemptAt } };
    }
    const [row] = await this.database.query<KeyRow[]>(
      `select fingerprint = $3 as same, response_status, response_headers, response_body #>> '{}' as response_body
         from idempotency_keys where client_id = $1 and key = $2`,
      [clientId, key, fingerprint],
    );
    if (!row) return { outcome: 'running' };
    if (!row.same) return { outcome: 'reused' };
    if (row.response_status === null) return { outcome: 'running' };
    return {
      outcome: 'answered',
      answer: { status: row.response_status, headers: row.response_headers ?? {}, body: row.response_body ?? '' },
    };
  }

  async finish({ clientId, key, lease }: Claim, { status, headers, body }: StoredAnswer): Promise<void> {
    await this.database.query(
      `update idempotency_keys set response_status = $4, response_headers = $5, response_body = to_jsonb($6::text)
        where client_id = $1 and key = $2 and leased_until = $3::timestamptz and response_status is null`,
      [clientId, key, lease, status, JSON.stringify(headers), body],
    );
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

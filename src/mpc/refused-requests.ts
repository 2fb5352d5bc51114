import type { DataSource } from 'typeorm';

/** Something that a node was asked to do and has refused. */
export interface RefusedRequest {
  /** `peer`: another node has asked; `initiator`: Temporal has. */
  role: 'initiator' | 'peer';
  act: string;
  code: string;
  reason: string;
  /** The other node of the session; null where there is none. */
  peer: number | null;
  /** What the order says of itself, valid or not. */
  named: Record<string, string | number>;
}

/** Of one peer, and of Temporal, in an hour: more are in the log and in the metric alone. */
const maxPerHour = 200;
const keptDays = 30;

/** What a node has refused, in its own database: a bounded number of rows, without those that are too old. */
export class RefusedRequests {
  constructor(private readonly database: DataSource) {}

  async add({ role, act, code, reason, peer, named }: RefusedRequest): Promise<void> {
    await this.database.query(
      `with old as (delete from refused_requests where refused_at < clock_timestamp() - make_interval(days => $8))
       insert into refused_requests (role, act, code, reason, peer, named)
       select $1, $2, $3, $4, $5::smallint, $6
        where (select count(*) from refused_requests
                where refused_at > clock_timestamp() - interval '1 hour' and role = $1 and (role = 'initiator' or peer = $5::smallint)) < $7`,
      [role, act, code, reason, peer, named, maxPerHour, keptDays],
    );
  }
}

import type { DataSource } from 'typeorm';
import { hashStatement, type SignedStatement } from './statement';

/** What a node asks of its journal, and does to it, before it signs: at its start, and after its database was replaced. */
export class JournalRecovery {
  constructor(private readonly database: DataSource) {}

  /**
   * Of the sessions that an earlier process has left behind, one with each peer by each key counts as failed: the peer may have made that
   * process end, and so has seen no more than one end. `marked`: number of the entry that the mark names; newer ones have sent nothing.
   */
  async failAbandoned(marked: number): Promise<void> {
    await this.database.query(
      `update journal set outcome = 'failed', ended_at = clock_timestamp()
        where number in (select max(number) from journal where outcome is null and number <= $1 group by key_id, peer)`,
      [marked],
    );
  }

  /** Newest entry that a peer may have a copy of; null without one. Of a session that has not begun perhaps none has. */
  async newestBegun(): Promise<{ number: number; hash: string } | null> {
    const [row] = await this.database.query<{ number: string; statement: string }[]>(
      `select number, statement from journal where outcome not in ('not_begun', 'interrupted') order by number desc limit 1`,
    );
    return row ? { number: Number(row.number), hash: hashStatement({ text: row.statement }) } : null;
  }

  /** 0 for an empty journal. */
  async newestNumber(): Promise<number> {
    const [row] = await this.database.query<{ number: string | null }[]>('select max(number) as number from journal');
    return Number(row?.number ?? 0);
  }

  /** Number of the newest entry that was not put back; 0 without one. Only from there on backwards the database is known to be complete. */
  async newestOwn(): Promise<number> {
    const [row] = await this.database.query<{ number: string | null }[]>(
      `select max(number) as number from journal where outcome is distinct from 'recovered'`,
    );
    return Number(row?.number ?? 0);
  }

  /** Whether the journal has the entry, unchanged. `hash`: SHA-256 of its statement. */
  async contains({ number, hash }: { number: number; hash: string }): Promise<boolean> {
    const [row] = await this.database.query<{ statement: string }[]>('select statement from journal where number = $1', [number]);
    return row !== undefined && hashStatement({ text: row.statement }) === hash;
  }

  /** Puts back entries that peers have kept; present ones stay as they are. `recount` must follow. */
  async restore(entries: SignedStatement[]): Promise<number> {
    const rows = await this.database.query<unknown[]>(
      `insert into journal
       select (jsonb_populate_record(null::journal, text::jsonb
               || jsonb_build_object('statement', text, 'statement_signature', signature, 'outcome', 'recovered'))).*
         from unnest($1::text[], $2::bytea[]) as given (text, signature) on conflict do nothing returning number`,
      [entries.map(({ text }) => text), entries.map(({ signature }) => signature)],
    );
    return rows.length;
  }

  /** Sums the amounts of recent entries again if some of them were put back. */
  async recount(): Promise<void> {
    await this.database.query(
      `select recount_amounts() where exists (
         select from journal where outcome = 'recovered' and admitted_at > clock_timestamp() - interval '48 hours')`,
    );
  }
}

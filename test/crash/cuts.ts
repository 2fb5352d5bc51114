import { Client } from 'pg';
import { waitFor } from '../stack/client';
import { cutNotice, type CommitFault } from '../stack/postgres-proxy';
import { alterSchema, createBreakpoints, dropBreakpoints } from './breakpoints';
import type { HeldGap } from './gaps';

export const cutGaps = [
  'accept: insert',
  'start: remove the message',
  'prepare: enterSigning',
  'broadcast: recordSigned',
  'broadcast: markBroadcast',
  'broadcast: markSubmitted',
  'confirm: storeInclusion',
  'settle: settleTransfer',
] as const satisfies HeldGap[];
/** Also what a transfer does that is not confirmed by its first attempt, and the other requests of its client. */
export type CutGap =
  (typeof cutGaps)[number] | 'screen: cancelTransfer' | 'screen: approve' | 'prepare: a replacement' | 'prepare: a cancellation';

/** Where the write can be a transaction of its own, which has no COMMIT that could get lost: such a connection is ended. */
const withoutCommit: Partial<Record<CutGap, string>> = {
  'start: remove the message': 'true',
  'broadcast: markBroadcast': 'true',
  'broadcast: markSubmitted': 'true',
  // the follower writes it after its cursor, in one transaction; `observe` writes nothing else
  'confirm: storeInclusion': `not exists (select from pg_locks where pid = pg_backend_pid() and relation = 'chain_cursors'::regclass
                                   and mode = 'RowExclusiveLock')`,
};

/** What becomes of a transaction whose COMMIT is cut. */
export const cutOutcomes = { 'never arrives': 'aborted', 'answer lost': 'committed' } as const satisfies Record<
  CommitFault,
  string
>;

export interface CutOptions {
  /** What begins in this gap is cut. */
  gap: CutGap;
  fault: CommitFault;
  /** How long the database is away after the cut, for API, worker and authoriser. */
  awayMs?: number;
  /** Only what is done for this address (breakpoints.ts says whose). */
  address?: string;
  /** Another name than that of a cut which is installed at the same time. */
  name?: string;
}

/**
 * Cuts the connection of the first transaction that does what a gap comes before, while it is committed: the database marks it with a NOTICE, and
 * the proxy in front of it does the rest. Sequences remember which transaction it was, since a rollback does not undo them.
 */
export class Cut {
  private constructor(
    private readonly connection: Client,
    private readonly gap: CutGap,
    private readonly name: string,
  ) {}

  /** Must be removed with `remove`. */
  static async install(url: string, { gap, fault, awayMs = 0, address, name = 'cut' }: CutOptions): Promise<Cut> {
    const connection = new Client({ connectionString: url });
    await connection.connect();
    const isEnded = (fault === 'never arrives' && withoutCommit[gap]) || 'false';
    const isOther = address === undefined ? 'false' : `lower(address) <> '${address.toLowerCase()}'`;
    const once = `
      create schema ${name};
      create sequence ${name}.transaction_id;
      create sequence ${name}.backend;
      create function ${name}.once(address text) returns void language plpgsql as $$
      begin
        if ${isOther} or (select is_called from ${name}.transaction_id) then return; end if;
        perform setval('${name}.backend', pg_backend_pid()), setval('${name}.transaction_id', pg_current_xact_id()::text::bigint);
        raise notice '${cutNotice({ fault, awayMs })}';
        if ${isEnded} then perform pg_terminate_backend(pg_backend_pid()); end if;
      end $$;
      grant all on all sequences in schema ${name} to public;
      ${createBreakpoints(name, [gap], (_gap, expression) => `${name}.once(${expression})`)}`;
    await alterSchema(connection, once);
    return new Cut(connection, gap, name);
  }

  /** What became of the transaction, once its connection is cut. @throws Error when that does not happen. */
  async outcome(timeoutMs = 60_000): Promise<string> {
    await waitFor(() => this.ask(`select is_called as answer from ${this.name}.transaction_id`), { timeoutMs });
    // well below the time after which an idle connection is closed
    await waitFor(
      () =>
        this.ask(
          `select not exists (select from pg_stat_activity a join ${this.name}.backend b on b.last_value = a.pid) as answer`,
        ),
      { timeoutMs: 5_000 },
    );
    return this.ask<string>(`select pg_xact_status(last_value::text::xid8) as answer from ${this.name}.transaction_id`);
  }

  async remove(): Promise<void> {
    await alterSchema(this.connection, dropBreakpoints(this.name, [this.gap]));
    await this.connection.end();
  }

  private async ask<T = boolean>(query: string): Promise<T> {
    const { rows } = await this.connection.query<{ answer: T }>(query);
    return rows[0]?.answer as T;
  }
}

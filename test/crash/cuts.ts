import { Client } from 'pg';
import { waitFor } from '../stack/client';
import { cutNotice, type CommitFault } from '../stack/postgres-proxy';
import { steps, type Step } from './holds';

/** `adoptHold` writes nothing, but its row lock has to be committed all the same. */
export const cutSteps = [
  'accept',
  'adoptHold',
  'enterSigning',
  'recordSigned',
  'markBroadcast',
  'markSubmitted',
  'storeInclusion',
  'settleTransfer',
] as const satisfies (Step | 'adoptHold')[];
export type CutStep = (typeof cutSteps)[number];

/** Where the write can be a transaction of its own, which has no COMMIT that could get lost: such a connection is ended. */
const withoutCommit: Partial<Record<CutStep, string>> = {
  markBroadcast: 'true',
  // the follower writes it after its cursor, in one transaction; `observe` writes nothing else
  storeInclusion: `not exists (select from pg_locks where pid = pg_backend_pid() and relation = 'chain_cursors'::regclass
                                   and mode = 'RowExclusiveLock')`,
};

/** Row locks fire no trigger, but row-level security is asked about every row. */
const atLock = `
  create function cut.at_lock() returns boolean language plpgsql as $$
  begin
    if current_query() like '%FOR NO KEY UPDATE' and current_setting('application_name') = 'gateway-worker' then
      perform cut.once();
    end if;
    return true;
  end $$;
  create policy cut on transactions using (cut.at_lock()) with check (true);
  alter table transactions enable row level security, force row level security;`;

function atWrite({ table, on, when }: (typeof steps)[Step]): string {
  return `
  create function cut.at_write() returns trigger language plpgsql as $$
  begin
    if ${when} then perform cut.once(); end if;
    return new;
  end $$;
  create trigger a_cut before ${on} on ${table} for each row execute function cut.at_write();`;
}

export interface CutOptions {
  step: CutStep;
  fault: CommitFault;
  /** How long the database is away after the cut, for API, worker and authoriser. */
  awayMs?: number;
}

/**
 * Cuts the connection of the first transaction that does a step, while it is committed: the database marks it with a NOTICE, and
 * the proxy in front of it does the rest. Sequences remember which transaction it was, since a rollback does not undo them.
 */
export class Cut {
  private constructor(private readonly connection: Client) {}

  /** Must be removed with `remove`. */
  static async install(url: string, { step, fault, awayMs = 0 }: CutOptions): Promise<Cut> {
    const connection = new Client({ connectionString: url });
    await connection.connect();
    const isEnded = (fault === 'never arrives' && withoutCommit[step]) || 'false';
    await connection.query(`
      create schema cut;
      create sequence cut.transaction_id;
      create sequence cut.backend;
      create function cut.once() returns void language plpgsql as $$
      begin
        if (select is_called from cut.transaction_id) then return; end if;
        perform setval('cut.backend', pg_backend_pid()), setval('cut.transaction_id', pg_current_xact_id()::text::bigint);
        raise notice '${cutNotice({ fault, awayMs })}';
        if ${isEnded} then perform pg_terminate_backend(pg_backend_pid()); end if;
      end $$;
      ${step === 'adoptHold' ? atLock : atWrite(steps[step])}
      -- the triggers run with the logins of the processes
      grant usage on schema cut to public;
      grant all on all sequences in schema cut to public;
      grant execute on all functions in schema cut to public;`);
    return new Cut(connection);
  }

  /** What became of the transaction, once its connection is cut. @throws Error when that does not happen. */
  async outcome(): Promise<string> {
    await waitFor(() => this.ask('select is_called as answer from cut.transaction_id'), { timeoutMs: 60_000 });
    // well below the time after which an idle connection is closed
    await waitFor(
      () => this.ask('select not exists (select from pg_stat_activity a join cut.backend b on b.last_value = a.pid) as answer'),
      { timeoutMs: 5_000 },
    );
    return this.ask<string>('select pg_xact_status(last_value::text::xid8) as answer from cut.transaction_id');
  }

  async remove(): Promise<void> {
    await this.connection.query(`
      alter table transactions disable row level security, no force row level security;
      drop schema cut cascade`);
    await this.connection.end();
  }

  private async ask<T = boolean>(query: string): Promise<T> {
    const { rows } = await this.connection.query<{ answer: T }>(query);
    return rows[0]?.answer as T;
  }
}

import { Client } from 'pg';

/**
 * Breakpoints in the database: a held step's write waits for a lock that the test owns, so that a process can be killed
 * exactly there. Nothing in the product knows of it.
 */
export const steps = {
  // its trigger runs before the one that sets is_held
  accept: { table: 'transactions', on: 'insert', when: `new.fee_symbol is not null` },
  /** Deferred: it waits within COMMIT. */
  commit: { table: 'transactions', on: 'insert', when: `new.is_held`, atCommit: true },
  beginSigning: { table: 'transactions', on: 'update', when: `new.status = 'SIGNING' and old.status <> 'SIGNING'` },
  persistSignature: { table: 'transfer_attempts', on: 'update', when: `new.signed is not null and old.signed is null` },
  recordBroadcast: {
    table: 'transfer_attempts',
    on: 'update',
    when: `new.broadcast_at is not null and old.broadcast_at is null`,
  },
  submitted: { table: 'transactions', on: 'update', when: `new.status = 'SUBMITTED' and old.status <> 'SUBMITTED'` },
  recordInclusion: {
    table: 'transfer_attempts',
    on: 'update',
    when: `new.block_number is not null and old.block_number is null`,
  },
  settle: {
    table: 'transactions',
    on: 'update',
    when: `new.status = 'CONFIRMED' and old.status <> 'CONFIRMED' and new.is_held`,
  },
} as const satisfies Record<string, { table: string; on: string; when: string; atCommit?: true }>;
export type Step = keyof typeof steps;

export class Holds {
  private constructor(private readonly connection: Client) {}

  /** Installs the triggers; `remove` takes them away. */
  static async install(url: string): Promise<Holds> {
    const connection = new Client({ connectionString: url });
    await connection.connect();
    for (const [step, { table, on, when, ...more }] of Object.entries(steps)) {
      const name = `a_hold_${step}`;
      const trigger =
        'atCommit' in more
          ? `drop trigger if exists ${name} on ${table};
             create constraint trigger ${name} after ${on} on ${table} deferrable initially deferred`
          : `create or replace trigger ${name} before ${on} on ${table}`;
      await connection.query(`
        create or replace function hold_${step}() returns trigger language plpgsql as $$
        begin
          if ${when} then perform pg_advisory_xact_lock_shared(hashtext('hold'), hashtext('${step}')); end if;
          return new;
        end $$;
        ${trigger} for each row execute function hold_${step}();`);
    }
    return new Holds(connection);
  }

  async hold(step: Step): Promise<void> {
    await this.connection.query(`select pg_advisory_lock(hashtext('hold'), hashtext($1))`, [step]);
  }

  async release(step: Step): Promise<void> {
    await this.connection.query(`select pg_advisory_unlock(hashtext('hold'), hashtext($1))`, [step]);
  }

  /** Resolves once somebody waits at the held step. */
  async reached(step: Step, timeoutMs: number): Promise<void> {
    const until = Date.now() + timeoutMs;
    for (;;) {
      const { rows } = await this.connection.query(
        `select 1 from pg_locks where locktype = 'advisory' and not granted
           and classid = hashtext('hold')::bit(32)::bigint::oid and objid = hashtext($1)::bit(32)::bigint::oid`,
        [step],
      );
      if (rows.length > 0) return;
      if (Date.now() > until) throw new Error(`nobody reached step ${step} within ${timeoutMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async remove(): Promise<void> {
    await this.connection.query('select pg_advisory_unlock_all()');
    for (const [step, { table }] of Object.entries(steps)) {
      await this.connection.query(`drop trigger if exists a_hold_${step} on ${table}; drop function if exists hold_${step}()`);
    }
    await this.connection.end();
  }
}

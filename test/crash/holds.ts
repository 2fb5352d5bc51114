import { Client, type QueryResultRow } from 'pg';
import { installReads, removeReads, type ReadStep } from './held-reads';

/** Writes of the steps of a transfer, each under the name of the function that makes it. */
export const steps = {
  // its trigger runs before the one that sets is_held
  accept: { table: 'transactions', on: 'insert', when: `new.fee_symbol is not null` },
  /** Deferred: it waits within COMMIT. */
  commit: { table: 'transactions', on: 'insert', when: `new.is_held`, atCommit: true },
  /** The workflow is started, the message about that not removed yet. */
  started: { table: 'workflow_outbox', on: 'delete', when: `old.kind = 'start_transfer'` },
  cancelTransfer: {
    table: 'transactions',
    on: 'update',
    when: `new.status = 'CANCELLED' and old.status <> 'CANCELLED'`,
  },
  enterSigning: { table: 'transactions', on: 'update', when: `new.status = 'SIGNING' and old.status <> 'SIGNING'` },
  replacement: { table: 'transfer_attempts', on: 'insert', when: `new.kind = 'replacement'` },
  cancellation: { table: 'transfer_attempts', on: 'insert', when: `new.kind = 'cancellation'` },
  recordSigned: { table: 'transfer_attempts', on: 'update', when: `new.signed is not null and old.signed is null` },
  markBroadcast: {
    table: 'transfer_attempts',
    on: 'update',
    when: `new.broadcast_at is not null and old.broadcast_at is null`,
  },
  markSubmitted: { table: 'transactions', on: 'update', when: `new.status = 'SUBMITTED' and old.status <> 'SUBMITTED'` },
  storeInclusion: {
    table: 'transfer_attempts',
    on: 'update',
    when: `new.block_number is not null and old.block_number is null`,
  },
  settleTransfer: {
    table: 'transactions',
    on: 'update',
    when: `new.status = 'CONFIRMED' and old.status <> 'CONFIRMED' and new.is_held`,
  },
} as const satisfies Record<string, WriteStep>;
export type Step = keyof typeof steps;

interface WriteStep {
  table: 'transactions' | 'transfer_attempts' | 'workflow_outbox';
  on: 'insert' | 'update' | 'delete';
  when: string;
  atCommit?: true;
}

/** What a hold of one transfer is named by: its sender. */
const senders = {
  transactions: 'new.from_address',
  transfer_attempts: '(select from_address from transactions where tx_id = new.tx_id)',
  workflow_outbox: '(select from_address from transactions where tx_id = old.subject_id)',
} as const;

/** A held statement ends by its time-out; how long it may take until a worker tries it again. */
export const betweenTriesMs = 5_000;
/** Requests are tried again by the client after a second: for these a moment is waited for at which all are held. */
const ofClients: readonly Held['step'][] = ['accept', 'commit', 'cancelTransfer'];

/** A step of all transfers, or of those of one address: the sender, for `screenTransfer` the recipient. */
export interface Held {
  step: Step | ReadStep;
  address?: string | undefined;
}
const toKey = ({ step, address }: Held): string => (address === undefined ? step : `${step} ${address.toLowerCase()}`);

const isWaitedFor = (key: string): string => `exists (select from pg_locks where locktype = 'advisory' and not granted
  and classid = hashtext('hold')::bit(32)::bigint::oid and objid = hashtext(${key})::bit(32)::bigint::oid)`;

/**
 * Breakpoints in the database: a held step waits for a lock that the test owns, so that a process can be killed exactly there.
 * Nothing in the product knows of it.
 */
export class Holds {
  /** What is held, and when somebody was last seen to wait there. */
  private readonly held = new Map<string, number>();
  private lastQuery: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly connection: Client,
    private readonly withReads: boolean,
  ) {}

  /** Installs the triggers, and with `withReads` what holds reads; `remove` takes them away. */
  static async install(url: string, { withReads = false } = {}): Promise<Holds> {
    const connection = new Client({ connectionString: url });
    await connection.connect();
    await alterSchema(
      connection,
      `create schema holds;
      grant usage on schema holds to public;
      create function holds.wait(step text, address text) returns void language sql as $$
        select pg_advisory_xact_lock_shared(hashtext('hold'), hashtext(step)),
               pg_advisory_xact_lock_shared(hashtext('hold'), hashtext(step || ' ' || lower(address)));
      $$;
      ${Object.entries(steps).map(triggerOf).join('')}
      ${withReads ? installReads : ''}
      -- they run with the logins of the processes
      grant execute on all functions in schema holds to public;`,
    );
    return new Holds(connection, withReads);
  }

  async hold(step: Held['step'], address?: string): Promise<void> {
    const key = toKey({ step, address });
    this.held.set(key, -Infinity);
    await this.query(`select pg_advisory_lock(hashtext('hold'), hashtext($1))`, [key]);
  }

  async release(step: Held['step'], address?: string): Promise<void> {
    await this.releaseKeys([toKey({ step, address })]);
  }

  /** `except`: what is held of this address stays. */
  async releaseAll({ except }: { except?: string | undefined } = {}): Promise<void> {
    const suffix = except === undefined ? undefined : ` ${except.toLowerCase()}`;
    await this.releaseKeys([...this.held.keys()].filter((key) => suffix === undefined || !key.endsWith(suffix)));
  }

  private async releaseKeys(keys: string[]): Promise<void> {
    for (const key of keys) this.held.delete(key);
    await this.query(`select pg_advisory_unlock(hashtext('hold'), hashtext(key)) from unnest($1::text[]) as keys (key)`, [keys]);
  }

  /** Resolves once somebody waits at the held step. */
  async reached(step: Held['step'], timeoutMs: number, address?: string): Promise<void> {
    for (const until = Date.now() + timeoutMs; (await this.notReached([{ step, address }])).length > 0;) {
      if (Date.now() > until) throw new Error(`nobody reached step ${step} within ${timeoutMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Those at which nobody waits, not even between two tries: as long as it is held, nobody can have passed. */
  async notReached<H extends Held>(held: readonly H[]): Promise<H[]> {
    const rows = await this.query<{ key: string }>(
      `select key from unnest($1::text[]) as keys (key) where ${isWaitedFor('key')}`,
      [held.map(toKey)],
    );
    const waiting = new Set(rows.map(({ key }) => key));
    for (const key of waiting) if (this.held.has(key)) this.held.set(key, Date.now());
    const isBetweenTries = (key: string) => Date.now() - (this.held.get(key) ?? -Infinity) <= betweenTriesMs;
    return held.filter((it) => !waiting.has(toKey(it)) && (ofClients.includes(it.step) || !isBetweenTries(toKey(it))));
  }

  /** One after another: the connection has one. */
  private query<R extends QueryResultRow>(statement: string, values: unknown[] = []): Promise<R[]> {
    const query = this.lastQuery.then(async () => (await this.connection.query<R>(statement, values)).rows);
    this.lastQuery = query.catch(() => undefined);
    return query;
  }

  async remove(): Promise<void> {
    await this.releaseAll();
    await alterSchema(this.connection, `${this.withReads ? removeReads : ''} drop schema holds cascade`);
    await this.connection.end();
  }
}

const deadlock = '40P01';

/** All of it or nothing. It locks several tables that are in use: after a deadlock it is tried again. */
async function alterSchema(connection: Client, statements: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await connection.query(statements);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== deadlock || tries === 5) throw error;
    }
  }
}

function triggerOf([step, { table, on, when, atCommit }]: [string, WriteStep]): string {
  const trigger = atCommit
    ? `create constraint trigger a_hold_${step} after ${on} on ${table} deferrable initially deferred`
    : `create trigger a_hold_${step} before ${on} on ${table}`;
  return `
    create function holds.${step.toLowerCase()}() returns trigger language plpgsql as $$
    begin
      if ${when} then perform holds.wait('${step}', ${senders[table]}); end if;
      return ${on === 'delete' ? 'old' : 'new'};
    end $$;
    ${trigger} for each row execute function holds.${step.toLowerCase()}();`;
}

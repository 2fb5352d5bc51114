import { Client, type QueryResultRow } from 'pg';
import { alterSchema, type BreakpointName, breakpointOf, createBreakpoints, dropBreakpoints, isRead } from './breakpoints';
import { gapNames, isHeld } from './gaps';

/** A held statement ends by its time-out; how long it may take until a worker tries it again: 10 s, after some tries. */
export const betweenTriesMs = 11_000;

/** All transfers of a gap, or those of one address (breakpoints.ts says whose). */
export interface Held {
  gap: BreakpointName;
  address?: string | undefined;
}
const toKey = ({ gap, address }: Held): string => (address === undefined ? gap : `${gap} ${address.toLowerCase()}`);

const isWaitedFor = (key: string): string => `exists (select from pg_locks where locktype = 'advisory' and not granted
  and classid = hashtext('hold')::bit(32)::bigint::oid and objid = hashtext(${key})::bit(32)::bigint::oid)`;

/**
 * Breakpoints in the gateway's database: a transfer in a held gap waits for a lock that the test owns, so that a process can be killed exactly there.
 * Nothing in the product knows of it.
 */
export class Holds {
  /** What is held, and when somebody was last seen to wait there. */
  private readonly held = new Map<string, number>();
  private lastQuery: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly connection: Client,
    private readonly gaps: readonly BreakpointName[],
  ) {}

  /** `withReads`: installs also what holds reads, which makes every query slower. `more`: of no gap. `remove` takes all of it away. */
  static async install(
    url: string,
    { withReads = false, more = [] }: { withReads?: boolean; more?: readonly BreakpointName[] } = {},
  ): Promise<Holds> {
    const connection = new Client({ connectionString: url });
    await connection.connect();
    const gaps = [...gapNames.filter(isHeld).filter((gap) => withReads || !isRead(gap)), ...more];
    await alterSchema(
      connection,
      `create schema holds;
      create function holds.wait(gap text, address text) returns void language sql as $$
        select pg_advisory_xact_lock_shared(hashtext('hold'), hashtext(gap)),
               pg_advisory_xact_lock_shared(hashtext('hold'), hashtext(gap || ' ' || lower(address)));
      $$;
      ${createBreakpoints('holds', gaps, (gap, address) => `holds.wait('${gap}', ${address})`)}`,
    );
    return new Holds(connection, gaps);
  }

  async hold(gap: BreakpointName, address?: string): Promise<void> {
    const key = toKey({ gap, address });
    this.held.set(key, -Infinity);
    await this.query(`select pg_advisory_lock(hashtext('hold'), hashtext($1))`, [key]);
  }

  async release(gap: BreakpointName, address?: string): Promise<void> {
    await this.releaseKeys([toKey({ gap, address })]);
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

  /** Resolves once somebody waits in the held gap. */
  async reached(gap: BreakpointName, timeoutMs: number, address?: string): Promise<void> {
    for (const until = Date.now() + timeoutMs; (await this.notReached([{ gap, address }])).length > 0;) {
      if (Date.now() > until) throw new Error(`nobody came to ${gap} within ${timeoutMs} ms`);
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
    // a client's requests are not tried again at once: a moment is waited for at which all of them are held
    const isPassed = (it: H) => breakpointOf(it.gap).isRequest || !isBetweenTries(toKey(it));
    return held.filter((it) => !waiting.has(toKey(it)) && isPassed(it));
  }

  /** One after another: the connection has one. */
  private query<R extends QueryResultRow>(statement: string, values: unknown[] = []): Promise<R[]> {
    const query = this.lastQuery.then(async () => (await this.connection.query<R>(statement, values)).rows);
    this.lastQuery = query.catch(() => undefined);
    return query;
  }

  async remove(): Promise<void> {
    await this.releaseAll();
    await alterSchema(this.connection, dropBreakpoints('holds', this.gaps));
    await this.connection.end();
  }
}

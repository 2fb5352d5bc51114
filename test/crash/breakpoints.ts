import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Breakpoint } from './gap';
import { gaps, hasFailed, type HeldGap, isApproved, isConfirmed, isSubmitted } from './gaps';

/** Of no transfer of a round (gaps.ts): a test that holds one of them says so. */
const others = {
  /** A client's approval needs a code of a second factor, which is good for one of them. */
  'screen: approve': {
    on: 'update',
    table: 'transactions',
    when: isApproved,
    isRequest: true,
  },
  'confirm: failByProof': { on: 'update', table: 'transactions', when: hasFailed },
  'prepare: COMMIT of a replacement': { on: 'insert', table: 'orders', when: `new.kind = 'replacement'`, atCommit: true },
  'prepare: COMMIT of a cancellation': { on: 'insert', table: 'orders', when: `new.kind = 'cancellation'`, atCommit: true },
  'prepare: recordRefusal': { on: 'insert', table: 'refusals', when: 'true' },
  'end: COMMIT of endTransfer': {
    on: 'update',
    table: 'transactions',
    when: `new.status = 'FAILED' and old.status <> 'FAILED' and new.signing_begun_at is null and new.is_signed`,
    atCommit: true,
  },
  'broadcast: COMMIT of markSubmitted': { on: 'update', table: 'transactions', when: isSubmitted, atCommit: true },
  'settle: COMMIT as confirmed': { on: 'update', table: 'transactions', when: isConfirmed, atCommit: true },
  'settle: COMMIT as failed': { on: 'update', table: 'transactions', when: hasFailed, atCommit: true },
} as const satisfies Record<string, Breakpoint>;

type OtherBreakpoint = keyof typeof others;
/** The gaps that are held in the database, and others. */
export type BreakpointName = HeldGap | OtherBreakpoint;

const isOther = (name: BreakpointName): name is OtherBreakpoint => name in others;

export const breakpointOf = (name: BreakpointName): Breakpoint => (isOther(name) ? others[name] : gaps[name].at);
export const isRead = (gap: BreakpointName): boolean => breakpointOf(gap).on === 'read';

/** The address by which the transfers of a breakpoint are told apart: the sender's, in the lists the recipient's. */
export const heldAddress = (gap: BreakpointName, { sender, recipient }: { sender: string; recipient: string }): string =>
  breakpointOf(gap).table === 'security_factors' ? recipient : sender;

/** The same of a row, as an SQL expression. */
const rowAddress = {
  transactions: (row: string) => `${row}.from_address`,
  transfer_attempts: (row: string) => `(select from_address from transactions where tx_id = ${row}.tx_id)`,
  workflow_outbox: (row: string) => `(select from_address from transactions where tx_id = ${row}.subject_id)`,
  security_factors: (row: string) => `${row}.address_key`,
  orders: (row: string) => `(select from_address from transactions where tx_id = ${row}.tx_id)`,
  refusals: (row: string) => `(select from_address from transactions where tx_id = ${row}.tx_id)`,
} as const;

/** An SQL expression: what is done at a breakpoint. `address` is one too. */
type Act = (gap: BreakpointName, address: string) => string;

/**
 * Statements that make the database act at these breakpoints, by functions in this schema, which must exist: triggers for what is
 * written, row-level security for what is read. They run with the logins of the processes.
 */
export function createBreakpoints(schema: string, held: readonly BreakpointName[], act: Act): string {
  const triggers = held.filter((gap) => !isRead(gap)).map((gap) => triggerOf(schema, gap, act));
  const policies = tablesRead(held).map((table) => policyOf(schema, table, held, act));
  return `
    ${[...triggers, ...policies].join('\n')}
    grant usage on schema ${schema} to public;
    grant execute on all functions in schema ${schema} to public;`;
}

export function dropBreakpoints(schema: string, held: readonly BreakpointName[]): string {
  const policies = tablesRead(held).map(
    (table) => `alter table ${table} disable row level security, no force row level security;`,
  );
  return `${policies.join('\n')} drop schema ${schema} cascade`;
}

const tablesRead = (held: readonly BreakpointName[]): Breakpoint['table'][] => [
  ...new Set(held.filter(isRead).map((gap) => breakpointOf(gap).table)),
];

function triggerOf(schema: string, gap: BreakpointName, act: Act): string {
  const { on, table, when, atCommit } = breakpointOf(gap);
  const row = on === 'delete' ? 'old' : 'new';
  const trigger = atCommit
    ? `create constraint trigger "a_${schema} ${gap}" after ${on} on ${table} deferrable initially deferred`
    : `create trigger "a_${schema} ${gap}" before ${on} on ${table}`;
  return `
    create function ${schema}."${gap}"() returns trigger language plpgsql as $$
    begin
      if ${when} then perform ${act(gap, rowAddress[table](row))}; end if;
      return ${row};
    end $$;
    ${trigger} for each row execute function ${schema}."${gap}"();`;
}

/** One of a table: of several, one that grants a row keeps the others from being asked. */
function policyOf(schema: string, table: Breakpoint['table'], held: readonly BreakpointName[], act: Act): string {
  const acts = held
    .filter((gap) => isRead(gap) && breakpointOf(gap).table === table)
    .map((gap) => `if ${breakpointOf(gap).when} then perform ${act(gap, 'address')}; end if;`);
  return `
    create function ${schema}.${table}(address text) returns boolean language plpgsql cost 100000 as $$
    begin
      ${acts.join('\n')}
      return true;
    end $$;
    create policy ${schema} on ${table} using (${schema}.${table}(${rowAddress[table](table)})) with check (true);
    alter table ${table} enable row level security, force row level security;`;
}

const deadlock = '40P01';

const mostTries = 60;

/** All of it or nothing. It locks several tables that are in use: after a deadlock it is tried again, for half a minute and more. */
export async function alterSchema(connection: Client, statements: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await connection.query(statements);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== deadlock || tries === mostTries) throw error;
      await delay(500);
    }
  }
}

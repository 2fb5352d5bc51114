import type { PoolClient } from 'pg';
import type { DataSource, QueryRunner } from 'typeorm';
import { noteSent, type PlanNode, rolledBack, type Step } from './sent-statements';

/** A statement that Postgres has carried out: sent by a step, or by a trigger or function that it has set off. */
export interface CarriedOut {
  text: string;
  plan: PlanNode;
}

interface Work {
  /** How many statements the step has sent. */
  sent: number;
  carriedOut: CarriedOut[];
}

/** Each statement's plan, with what its parts have read, is a notice to whoever has sent it. */
const settings = {
  log_min_duration: '0',
  log_level: 'notice',
  log_format: 'json',
  log_analyze: 'on',
  log_buffers: 'on',
  log_timing: 'off',
  log_nested_statements: 'on',
  log_parameter_max_length: '0',
};

/** All that a step has carried out, with what its triggers and the checks at the end of its database transaction have; it is rolled back. */
export async function workOf(database: DataSource, run: Step): Promise<Work> {
  const work: Work = { sent: 0, carriedOut: [] };
  let client: PoolClient | undefined;
  let checks: string[] = [];
  const note = ({ message }: { message?: string }) => {
    const [, json] = /^duration: .* plan:\n(.*)$/s.exec(message ?? '') ?? [];
    if (!json) return;
    const { 'Query Text': text, Plan: plan } = JSON.parse(json) as { 'Query Text': string; Plan: PlanNode };
    work.carriedOut.push({ text, plan });
  };
  const before = async (runner: QueryRunner) => {
    checks = await findChecksAtEnd(runner);
    client = (await runner.connect()) as PoolClient;
    await runner.query(`load 'auto_explain'`);
    for (const [name, value] of Object.entries(settings)) await runner.query(`set local auto_explain.${name} = '${value}'`);
    client.on('notice', note);
    noteSent(runner, () => (work.sent += 1));
  };
  const after = async (runner: QueryRunner) => {
    const { sent } = work;
    for (const name of checks) await checkNow(runner, name);
    work.sent = sent;
  };
  await rolledBack(database, run, { before, after }).finally(() => client?.off('notice', note));
  return work;
}

/** Names of checks at the end of a database transaction. */
async function findChecksAtEnd(runner: QueryRunner): Promise<string[]> {
  const rows = (await runner.query('select distinct conname as name from pg_constraint where condeferred')) as { name: string }[];
  return rows.map(({ name }) => name);
}

/** A check reads before it refuses: the rows of the test were inserted without it. */
async function checkNow(runner: QueryRunner, name: string): Promise<void> {
  await runner.query('savepoint checked');
  try {
    await runner.query(`set constraints ${name} immediate`);
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('do not fit its state'))) throw error;
    await runner.query('rollback to savepoint checked');
  }
}

/** How many rows a statement may read of one table: as many as it is given, which are 20,000 at most, and those of what is open. */
const mostRows = 25_000;
/** Pages that a look-up may read beside those of what it finds: an index that is read from end to end has thousands. */
const mostPages = 1_000;
/** Levels of an index, and the row. */
const pagesOfRow = 8;

/**
 * Parts of a statement that read more than it needs, by what was read when it was carried out: a big table from end to end, many rows, or many
 * pages for the rows that were found. Empty: none does. `big`: names of tables that become big.
 */
export function excessOf({ plan }: CarriedOut, big: Readonly<Record<string, number>>): string[] {
  const excess: string[] = [];
  const visit = (node: PlanNode): void => {
    const { 'Node Type': type, 'Relation Name': table, 'Index Name': index } = node;
    const loops = node['Actual Loops'] ?? 0;
    const rows = loops * rowsOf(node);
    const pages = pagesOf(node) - (node.Plans ?? []).reduce((sum, child) => sum + pagesOf(child), 0);
    const isRead = type !== 'ModifyTable' && (table ?? index) !== undefined;
    if (isRead && loops > 0) {
      const isWhole = type === 'Seq Scan' && table !== undefined && table in big;
      if (isWhole || rows > mostRows || pages > mostPages + pagesOfRow * Math.max(rows, loops, node['Index Searches'] ?? 0))
        excess.push(`${type} of ${table ?? index}: ${rows} rows, ${pages} pages`);
    }
    for (const child of node.Plans ?? []) visit(child);
  };
  visit(plan);
  return excess;
}

const rowsOf = (node: PlanNode): number =>
  (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);

const pagesOf = (node: PlanNode): number => (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0);

import type { DataSource, EntityManager } from 'typeorm';

/** A statement with its parameters, as the driver gets it. */
export type Sent = [text: string, parameters: unknown[]];

export type Step = (manager: EntityManager, database: DataSource) => Promise<unknown>;

/**
 * What a step sends, those that TypeORM writes among them. It is sent without triggers and rolled back. The step has one connection with one
 * database transaction, which its own ones are parts of.
 */
export async function statementsOf(database: DataSource, run: Step): Promise<Sent[]> {
  const sent: Sent[] = [];
  const runner = database.createQueryRunner();
  await runner.startTransaction();
  await runner.query(`set local session_replication_role = 'replica'`);
  const send = runner.query.bind(runner);
  runner.query = (text: string, parameters: unknown[] = [], isStructured = false) => {
    sent.push([text, parameters]);
    return (isStructured ? send(text, parameters, true) : send(text, parameters)) as Promise<never>;
  };
  const nothing = () => Promise.resolve();
  const ends = { startTransaction: nothing, commitTransaction: nothing, rollbackTransaction: nothing, release: nothing };
  const connect = () => Promise.resolve({ nextSent: nothing });
  const { manager } = runner;
  const createQueryRunner = () => ({ ...ends, connect, manager });
  try {
    await run(manager, { query: manager.query.bind(manager), manager, createQueryRunner } as unknown as DataSource);
  } finally {
    runner.query = send;
    await runner.rollbackTransaction();
    await runner.release();
  }
  return sent;
}

/** Each once: the same text with as many values has the same plan. */
export function withoutRepeats(sent: Sent[]): Sent[] {
  const shapeOf = ([text, parameters]: Sent) =>
    `${text} ${parameters.map((it) => (Array.isArray(it) ? it.length : typeof it)).join()}`;
  return [...new Map(sent.map((it) => [shapeOf(it), it])).values()];
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  /** Of each loop; where the statement was carried out. */
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** How many rows an index may have that is read whole: those of what is open, or of the newest blocks. */
const fewRows = 50_000;

async function explain(database: DataSource, [text, parameters]: Sent, options = ''): Promise<PlanNode> {
  const [row] = await database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }[]>(
    `explain (format json${options}) ${text}`,
    parameters,
  );
  if (!row) throw new Error('there is no plan');
  return row['QUERY PLAN'][0].Plan;
}

export interface Reading {
  indexes: string[];
  /** Tables that are read from end to end. */
  scanned: string[];
  /** Rows of tables and indexes, those that are left out among them. */
  rows: number;
}

/** What a reading statement reads; it is carried out. @throws what Postgres throws at the statement. */
export async function readingOf(database: DataSource, sent: Sent): Promise<Reading> {
  const reading: Reading = { indexes: [], scanned: [], rows: 0 };
  const visit = ({ 'Node Type': type, ...node }: PlanNode): void => {
    if (node['Index Name']) reading.indexes.push(node['Index Name']);
    if (type === 'Seq Scan' && node['Relation Name']) reading.scanned.push(node['Relation Name']);
    // a bitmap is of rows that the node above it reads
    if (node['Relation Name'])
      reading.rows += ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 0);
    for (const child of node.Plans ?? []) visit(child);
  };
  visit(await explain(database, sent, ', analyze'));
  return reading;
}

/**
 * Tables that the plan of a statement reads from end to end, by themselves or by an index of many rows, unless it stops at a limit.
 * @throws what Postgres throws at the statement.
 */
export async function readWhole(database: DataSource, sent: Sent): Promise<string[]> {
  const tables: string[] = [];
  const indexes: string[] = [];
  const visit = (node: PlanNode, isLimited: boolean): void => {
    const { 'Node Type': type, 'Relation Name': table, 'Index Name': index, 'Index Cond': condition } = node;
    if (type === 'Seq Scan' && table) tables.push(table);
    if (index && condition === undefined && !isLimited) indexes.push(index);
    for (const child of node.Plans ?? []) visit(child, isLimited || type === 'Limit');
  };
  visit(await explain(database, sent), false);
  const large = await database.query<{ name: string }[]>(
    `select t.relname as name from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
      where i.relname = any($1::text[]) and i.reltuples > $2`,
    [indexes, fewRows],
  );
  return [...tables, ...large.map(({ name }) => name)];
}

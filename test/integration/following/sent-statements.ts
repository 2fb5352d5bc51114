import type { DataSource, EntityManager, QueryRunner } from 'typeorm';

/** A statement with its parameters, as the driver gets it. */
export type Sent = [text: string, parameters: unknown[]];

export type Step = (manager: EntityManager, database: DataSource) => Promise<unknown>;

interface Around {
  before: (runner: QueryRunner) => Promise<void>;
  after?: (runner: QueryRunner) => Promise<void>;
}

/** Carries out a step and rolls it back. It has one connection with one database transaction, which its own ones are parts of. */
export async function rolledBack(database: DataSource, run: Step, { before, after }: Around): Promise<void> {
  const runner = database.createQueryRunner();
  await runner.startTransaction();
  const query = runner.query.bind(runner);
  const nothing = () => Promise.resolve();
  const ends = { startTransaction: nothing, commitTransaction: nothing, rollbackTransaction: nothing, release: nothing };
  const connect = () => Promise.resolve({ nextSent: nothing });
  const { manager } = runner;
  const createQueryRunner = () => ({ ...ends, connect, manager });
  try {
    await before(runner);
    await run(manager, { query: manager.query.bind(manager), manager, createQueryRunner } as unknown as DataSource);
    await after?.(runner);
  } finally {
    runner.query = query;
    await runner.rollbackTransaction();
    await runner.release();
  }
}

/** What a step sends, those that TypeORM writes among them. It is sent without triggers. */
export async function statementsOf(database: DataSource, run: Step): Promise<Sent[]> {
  const sent: Sent[] = [];
  const before = async (runner: QueryRunner) => {
    await runner.query(`set local session_replication_role = 'replica'`);
    noteSent(runner, (statement) => void sent.push(statement));
  };
  await rolledBack(database, run, { before });
  return sent;
}

/** Tells of each statement before it is sent, until the step is rolled back. */
export function noteSent(runner: QueryRunner, note: (sent: Sent) => void): void {
  const send = runner.query.bind(runner);
  runner.query = (text: string, parameters: unknown[] = [], isStructured = false) => {
    note([text, parameters]);
    return (isStructured ? send(text, parameters, true) : send(text, parameters)) as Promise<never>;
  };
}

export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  /** Of each loop. */
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Index Searches'?: number;
  /** Pages, those that the parts below it have read among them. */
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
}

async function explain(database: DataSource, [text, parameters]: Sent): Promise<PlanNode> {
  const [row] = await database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }[]>(
    `explain (format json, analyze) ${text}`,
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
  visit(await explain(database, sent));
  return reading;
}

import type { DataSource } from 'typeorm';
import * as inclusions from '../../../src/following/inclusions';
import * as store from '../../../src/following/store';
import { lowestId } from '../../../src/transfers/start/lost-workflows';
import { createTestDatabase, openDatabase, type TestDatabase } from '../../stack/database';
import { followerSteps } from './follower-steps';
import { jobSteps } from './job-steps';
import { big, finality, head, insertRows } from './plan-rows';
import type { Step } from './sent-statements';
import { excessOf, workOf } from './carried-out';

/**
 * What the follower and the periodic jobs ask of Postgres, as they ask it, at a million rows of each big table: every statement is carried out,
 * those of triggers and of the checks at the end among them, and judged by what it has read.
 */

let testDatabase: TestDatabase;
let database: DataSource;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase(testDatabase.url, { poolSize: 2 });
  await insertRows(database);
}, 900_000);
afterAll(async () => {
  await database.destroy();
  await testDatabase.drop();
});

test.each(Object.entries(big))('%s has at least %d rows', async (table, least) => {
  const [row] = await database.query<{ rows: string }[]>(`select count(*) as rows from ${table}`);
  expect(Number(row?.rows)).toBeGreaterThanOrEqual(least);
});

/** Statements that read the messages that wait, all of them, some as the planner sees fit: their number has a limit (MAX_PENDING_STARTS). */
const readsOutbox = [
  /^with unended as materialized .* and not exists \(select from workflow_outbox where kind = 'start_transfer'/s,
  /^select distinct kind, chain from workflow_outbox where deliver_after/,
  /^select client_id, count\(\*\).* from workflow_outbox where kind = 'start_transfer' group by client_id$/s,
  /^select kind, coalesce\(chain, 'none'\).* from workflow_outbox group by kind, chain, is_postponed$/s,
];

/** Of each transaction in the blocks that are taken back: every row that it reads changes. */
const changesAll = /^update output_origins set spent_by = null/;

const isMeant = (text: string, part: string): boolean =>
  (part.includes(' of workflow_outbox') && readsOutbox.some((known) => known.test(text))) ||
  (part.includes(' of output_origins') && changesAll.test(text));

test.each([...followerSteps, ...jobSteps])('%s: no more is read than is needed', async (_, least, step) => {
  const { sent, carriedOut } = await workOf(database, step);
  expect(sent).toBeGreaterThanOrEqual(least);
  expect(carriedOut.length).toBeGreaterThanOrEqual(least);
  for (const statement of carriedOut) {
    const { text } = statement;
    const excess = excessOf(statement, big).filter((part) => !isMeant(text, part));
    expect([text, excess]).toEqual([text, []]);
  }
});

describe('what reads too much is found', () => {
  const trigger = `
    create function read_much() returns trigger language plpgsql as $$
    begin perform from transactions where tx_hash || '' = 'h7'; return null; end $$;
    create trigger reads_much after update on chain_cursors for each row execute function read_much()`;
  it.each<[string, Step, string]>([
    [
      'an index of whose rows nearly all match',
      async (manager) => {
        await manager.query('set local enable_seqscan = off');
        await manager.query(`select sum(ordinal) from foreign_transactions where chain = 'ethereum'`);
      },
      'foreign_transactions',
    ],
    [
      'what is left out below a limit',
      async (manager) => {
        await manager.query('set local enable_seqscan = off');
        await manager.query(`select from transactions where tx_id > $1 and token_symbol = 'none' order by tx_id limit 1`, [
          lowestId,
        ]);
      },
      'transactions',
    ],
    [
      'an index that is read from end to end for one row',
      async (manager) => {
        await manager.query('set local enable_seqscan = off');
        await manager.query('set local enable_bitmapscan = off');
        await manager.query(`select count(*) from attempt_ids where right(id, 6) = '999999'`);
      },
      'attempt_ids',
    ],
    [
      'a statement of a trigger',
      async (manager) => {
        await manager.query(trigger);
        await store.storeHeadWithoutLevels(manager, 'ethereum', head);
      },
      'transactions',
    ],
    [
      'a statement of the follower without its index',
      async (manager) => {
        await manager.query('drop index transfer_attempts_included');
        await inclusions.clearContradicted(manager, 'ethereum', head - finality, head);
      },
      'transfer_attempts',
    ],
  ])('%s', async (_, step, table) => {
    const { carriedOut } = await workOf(database, step);
    const excess = carriedOut.flatMap((statement) => excessOf(statement, big));
    expect(excess).toContainEqual(expect.stringContaining(` of ${table}`));
  });
});

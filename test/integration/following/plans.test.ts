import type { DataSource } from 'typeorm';
import { createTestDatabase, openDatabase, type TestDatabase } from '../../stack/database';
import { followerSteps } from './follower-steps';
import { jobSteps } from './job-steps';
import { big, insertRows } from './plan-rows';
import { readWhole, statementsOf, withoutRepeats } from './sent-statements';

/**
 * What the follower and the periodic jobs ask of Postgres, as they ask it, at a million rows of each big table: every statement that a
 * function sends is explained with its parameters.
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

/** Statements that read the messages that wait, all of them: their number has a limit (MAX_PENDING_STARTS). */
const readsOutbox = [
  /^select distinct kind, chain from workflow_outbox where deliver_after/,
  /^select client_id, count\(\*\).* from workflow_outbox where kind = 'start_transfer' group by client_id$/s,
  /^select kind, coalesce\(chain, 'none'\).* from workflow_outbox group by kind, chain, is_postponed$/s,
];

test.each([...followerSteps, ...jobSteps])('%s: no big table is read from end to end', async (_, least, step) => {
  const sent = await statementsOf(database, step);
  expect(sent.length).toBeGreaterThanOrEqual(least);
  for (const statement of withoutRepeats(sent)) {
    const [text] = statement;
    const isKnown = readsOutbox.some((known) => known.test(text));
    const whole = (await readWhole(database, statement)).filter((table) => !isKnown || table !== 'workflow_outbox');
    expect([text, whole.filter((table) => table in big)]).toEqual([text, []]);
  }
});

import { EntityManager } from 'typeorm';
import { audit } from '../../../src/audit/log';
import { auditHead } from '../../../src/audit/reader';
import { sealAuditLog } from '../../../src/audit/seal';
import { verifyAuditLog } from '../../../src/audit/verify';
import { createTestDatabase, type TestDatabase } from '../../stack/database';
import { buildEvent, writeEvents } from './fixture';

let test: TestDatabase;
beforeEach(async () => void (test = await createTestDatabase()));
afterEach(() => test.drop());

const count = async (table: string): Promise<number> =>
  Number((await test.database.query<{ n: string }[]>(`select count(*) as n from ${table}`))[0]?.n);

it('seals all rows in one chain, and has nothing to do afterwards', async () => {
  const { database } = test;
  expect(await sealAuditLog(database)).toBe(0);
  expect(await auditHead(database.manager)).toBeNull();
  expect(await verifyAuditLog(database)).toMatchObject({ found: 0, events: 0, seals: 0, head: { seq: 0 } });

  await writeEvents(database.manager, 3);
  expect(await verifyAuditLog(database)).toMatchObject({ found: 0, waiting: 3 });
  expect(await sealAuditLog(database)).toBe(3);
  const first = await auditHead(database.manager);
  await writeEvents(database.manager, 2);
  expect(await sealAuditLog(database)).toBe(2);
  expect(await sealAuditLog(database)).toBe(0);
  const report = await verifyAuditLog(database);
  expect(report).toMatchObject({ found: 0, events: 5, seals: 2, waiting: 0, head: { seq: 2 } });
  expect(await count('audit_pending')).toBe(0);

  for (const head of [{ seq: 0, hash: '0'.repeat(64) }, { seq: 1, hash: String(first?.hash) }, report.head])
    expect(await verifyAuditLog(database, [head])).toMatchObject({ found: 0 });
});

it('a row that is committed late is sealed then, although later ones are sealed already', async () => {
  const { database } = test;
  const slow = database.createQueryRunner();
  await slow.startTransaction();
  await audit(slow.manager, buildEvent(1));
  await writeEvents(database.manager, 5);
  expect(await sealAuditLog(database)).toBe(5);
  await slow.commitTransaction();
  await slow.release();
  expect(await sealAuditLog(database)).toBe(1);
  expect(await verifyAuditLog(database)).toMatchObject({ found: 0, events: 6, seals: 2, waiting: 0 });
});

it('a row that is rolled back leaves no gap', async () => {
  const { database } = test;
  const undone = database.transaction(async (manager) => {
    await audit(manager, buildEvent(1));
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect([await count('audit_events'), await count('audit_pending')]).toEqual([0, 0]);
});

it('writers and several sealers at once: every row is sealed once, the chain does not fork', async () => {
  const { database } = test;
  let writing = true;
  const writers = Array.from({ length: 5 }, async (_, writer) => {
    for (let number = 0; number < 40; number += 1)
      await database.transaction(async (manager) => {
        await audit(manager, buildEvent(number));
        if (writer === 0) await manager.query('select pg_sleep(0.01)');
      });
  });
  const sealers = Array.from({ length: 3 }, async () => {
    while (writing) {
      await sealAuditLog(database);
      expect((await verifyAuditLog(database)).findings).toEqual([]);
    }
  });
  await Promise.all(writers);
  writing = false;
  await Promise.all(sealers);
  await sealAuditLog(database);
  expect(await verifyAuditLog(database)).toMatchObject({ found: 0, events: 200, waiting: 0 });
});

it('a sealer returns at once while another is running; writers wait for neither', async () => {
  const { database } = test;
  await writeEvents(database.manager, 1);
  const other = database.createQueryRunner();
  await other.startTransaction();
  await other.query(`select pg_advisory_xact_lock(hashtext('audit_seals'))`);
  expect(await sealAuditLog(database)).toBe(0);
  await writeEvents(database.manager, 1);
  await other.rollbackTransaction();
  await other.release();
  expect(await sealAuditLog(database)).toBe(2);
});

it('the database sets the time; rows and seals cannot be backdated, changed or removed', async () => {
  const { database } = test;
  const [id] = await writeEvents(database.manager, 1);
  await sealAuditLog(database);
  await database.query(
    `insert into audit_events (audit_id, at, action, outcome, actor_type, actor_id)
     values (gen_random_uuid(), '2001-01-01', 'auth.failed', 'refused', 'system', 'x')`,
  );
  expect(await database.query(`select 1 from audit_events where at < now() - interval '1 hour'`)).toEqual([]);
  for (const statement of [
    `update audit_events set actor_id = 'x' where audit_id = '${id}'`,
    `delete from audit_events`,
    `truncate audit_events`,
    `update audit_seals set events = 2`,
    `delete from audit_seals`,
    `truncate audit_seals`,
    `update audit_seal_entries set position = 5`,
    `delete from audit_seal_entries`,
    `truncate audit_seal_entries`,
  ])
    await expect(database.query(statement)).rejects.toThrow('append-only');
});

it('10,000 rows are sealed in batches of 1000 and verified in bounded memory', async () => {
  const { database } = test;
  const write = () =>
    database.query(
      `insert into audit_events (audit_id, action, outcome, actor_type, actor_id, detail)
       select gen_random_uuid(), 'auth.token_issued', 'success', 'user', 'u' || n, jsonb_build_object('text', repeat('x', 2000))
         from generate_series(1, 10000) n`,
    );
  await write();
  expect(await sealAuditLog(database)).toBe(10_000);
  expect(await count('audit_seals')).toBe(10);
  // whatever the log's length, no answer is longer than a page, and no page is kept
  const queries = jest.spyOn(EntityManager.prototype, 'query');
  expect(await verifyAuditLog(database)).toMatchObject({ found: 0, events: 10_000, seals: 10 });
  const lengths = await Promise.all(
    queries.mock.results.map(async ({ value }) => ((await value) as unknown[] | undefined)?.length ?? 0),
  );
  queries.mockRestore();
  expect(Math.max(...lengths)).toBe(2_000);
}, 60_000);

import type { Socket } from 'node:net';
import type { DataSource } from 'typeorm';
import type { Pool } from 'pg';
import type { DatabaseClient } from '../../../src/platform/database-client';
import { createDatabase, inTransaction } from '../../../src/platform/database';
import { createTestDatabase, openDatabase, type TestDatabase } from '../../stack/database';

let fixture: TestDatabase;
let database: DataSource;
beforeAll(async () => {
  fixture = await createTestDatabase({ poolSize: 1 });
  ({ database } = fixture);
});
afterAll(() => fixture.drop());

const ask = (sql: string, parameters: unknown[] = []): Promise<Record<string, unknown>[]> => database.query(sql, parameters);
const pidOf = async (): Promise<unknown> => (await ask('select pg_backend_pid() as pid'))[0]?.pid;

/** The pool of the data source. */
const pool = (): Pool => (database.driver as unknown as { master: Pool }).master;

async function withClient<T>(work: (client: DatabaseClient) => Promise<T>): Promise<T> {
  const client = await pool().connect();
  try {
    return await work(client as unknown as DatabaseClient);
  } finally {
    client.release();
  }
}

test('statements that are issued together run in their order, and each gets its own answer', () =>
  withClient(async (client) => {
    await client.query('create temporary table steps (step serial, of integer)');
    const given = Array.from({ length: 20 }, (_, i) => i);
    const answers = await Promise.all(
      given.map((i) => client.query('insert into steps (of) values ($1) returning step, of', [i])),
    );
    expect(answers.map(({ rows }) => rows as unknown)).toEqual(given.map((i) => [{ step: i + 1, of: i }]));
  }));

test('statements that are issued together are written at once', () =>
  withClient(async (client) => {
    await client.query('select $1::integer', [0]);
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    const writes = [jest.spyOn(stream, '_write'), jest.spyOn(stream, '_writev')];
    const made = () => writes.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    const answers = [1, 2, 3].map((i) => client.query('select $1::integer', [i]));
    await new Promise((resolve) => process.nextTick(resolve));
    expect(made()).toBe(1);
    await Promise.all(answers);
  }));

test('one that fails does not fail those that were issued with it, outside of a transaction', () =>
  withClient(async (client) => {
    const results = await Promise.allSettled([
      client.query('select $1::integer as n', [1]),
      client.query('select 1 / $1::integer', [0]),
      client.query('select $1::integer as n', [3]),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  }));

test('nothing of a transaction is stored when one of its statements fails that was issued with others', async () => {
  await ask('create table kept (n integer primary key)');
  const failing = inTransaction(database, (manager) =>
    Promise.all([1, 2, 2, 3].map((n) => manager.query('insert into kept values ($1)', [n]))),
  );
  await expect(failing).rejects.toThrow('duplicate key');
  expect(await ask('select * from kept')).toEqual([]);
  await inTransaction(database, (manager) => Promise.all([4, 5].map((n) => manager.query('insert into kept values ($1)', [n]))));
  expect(await ask('select * from kept order by n')).toEqual([{ n: 4 }, { n: 5 }]);
});

test('statements with parameters stay prepared, a bounded number of them', async () => {
  const prepared = async () => Number((await ask('select count(*) from pg_prepared_statements'))[0]?.count);
  const before = await prepared();
  for (let i = 0; i < 3; i += 1) await ask('select $1::text as again', ['x']);
  expect(await prepared()).toBe(before + 1);
  for (let i = 0; i < 400; i += 1) expect(await ask(`select $1::text as c${i}`, ['x'])).toEqual([{ [`c${i}`]: 'x' }]);
  expect(await prepared()).toBe(250);
});

test('a statement whose table has changed fails once; the pool then opens another connection', async () => {
  await ask('create table changing (a integer)');
  const select = () => ask('select * from changing where $1', [true]);
  // room for one more prepared statement
  (await withClient((client) => Promise.resolve(client))).destroy();
  await ask('insert into changing values ($1)', [1]).catch(() => ask('insert into changing values ($1)', [1]));
  await select();
  const pid = await pidOf();
  await ask('alter table changing add column b integer');
  await expect(select()).rejects.toThrow('cached plan must not change result type');
  expect(await select().catch(select)).toEqual([{ a: 1, b: null }]);
  expect(await pidOf()).not.toBe(pid);
});

test('callbacks and named queries of libraries are served', async () => {
  const named = { name: 'theirs', text: 'select $1::integer as n', values: [7] };
  expect((await pool().query(named)).rows).toEqual([{ n: 7 }]);
  expect((await pool().query('select $1::integer as n', [8])).rows).toEqual([{ n: 8 }]);
});

test('what tests do themselves has minutes, and not the time of a request of the gateway', async () => {
  const seconds = `select extract(epoch from current_setting('statement_timeout')::interval)::int as seconds`;
  const [own] = await ask(seconds);
  const { gateway_api: url } = await fixture.logins();
  const asLogin = await openDatabase(url, { poolSize: 1 });
  const gateway = await createDatabase({ url, poolSize: 1, applicationName: 'test', entities: [] }).initialize();
  const [opened, served] = [await asLogin.query<unknown[]>(seconds), await gateway.query<unknown[]>(seconds)];
  await Promise.all([asLogin.destroy(), gateway.destroy()]);
  expect([own, opened[0], served[0]]).toEqual([180, 180, 15].map((it) => ({ seconds: it })));
});

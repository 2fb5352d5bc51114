import { GatewayError } from '../../../src/platform/errors';
import { newId } from '../../../src/platform/ids';
import { createLogger, type Logger } from '../../../src/platform/logging';
import { createTestDatabase, type TestDatabase } from '../../stack/database';

const secret = 'whsec_do_not_log_0123456789';
let fixture: TestDatabase;
beforeAll(async () => void (fixture = await createTestDatabase({ poolSize: 2 })));
afterAll(() => fixture.drop());

const query = (sql: string, parameters: unknown[]): Promise<Error> =>
  fixture.database.query(sql, parameters).then(
    () => Promise.reject(new Error('accepted')),
    (error: unknown) => error as Error,
  );

/** Errors of the real server, each of which carries the secret somewhere. */
const errors: Record<string, () => Promise<Error>> = {
  'a violated check': () => query(`insert into clients (client_id, name, status) values ($1, $2, 'OPEN')`, [newId(), secret]),
  'a violated unique constraint': async () => {
    const insert = `insert into clients (client_id, name) values ($1, $2)`;
    await fixture.database.query(`${insert} on conflict do nothing`, [newId(), secret]);
    return query(insert, [newId(), secret]);
  },
  'a value of another type': () => query('select * from clients where client_id = $1::uuid', [secret]),
  'a value within the statement': () => query(`select '${secret}'::integer`, []),
  'a context with the value': () =>
    query(
      `do $$ begin execute format('insert into users (user_id, name) values (%L, %L)', gen_random_uuid(), '${secret}'); end $$`,
      [],
    ),
};

function written(work: (log: Logger) => void): string {
  const lines: string[] = [];
  work(createLogger('test', 'trace', { write: (line) => void lines.push(line) }));
  return lines.join('');
}

const ways: [string, (log: Logger, error: Error) => void][] = [
  ['as err', (log, err) => log.warn({ err }, 'failed')],
  ['as err without a text', (log, err) => log.warn({ err })],
  ['by itself', (log, error) => log.error(error)],
  ['under another name', (log, error) => log.warn({ failure: error }, 'failed')],
  ['as a cause', (log, cause) => log.warn({ err: new GatewayError('unavailable', 'away', { cause }) }, 'failed')],
  ['in a child logger', (log, err) => log.child({ err }).warn('failed')],
];

describe.each(Object.entries(errors))('%s', (_name, provoke) => {
  test.each(ways)('leaves no value in the log: %s', async (_way, log) => {
    const error = await provoke();
    expect(JSON.stringify([error, error.message, error.stack])).toContain(secret);
    const line = written((logger) => log(logger, error));
    expect(line).not.toContain(secret);
    expect(line).toContain('QueryFailedError');
  });
});

test('what helps to find the cause is logged: state, table, constraint, frames', async () => {
  const error = await errors['a violated unique constraint']?.();
  const { err } = JSON.parse(written((log) => log.warn({ err: error }, 'failed'))) as { err: Record<string, string> };
  expect(err).toMatchObject({ code: '23505', table: 'clients', constraint: 'clients_name_key' });
  expect(err['message']).toMatch(/duplicate key/);
  expect(err['stack']).toMatch(/\n\s+at /);
});

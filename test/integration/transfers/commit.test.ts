import type { DataSource } from 'typeorm';
import { entities } from '../../../src/entities';
import { createDatabase, inTransaction } from '../../../src/platform/database';
import { TransactionEntity } from '../../../src/transactions/entity';
import { acceptTransfer } from '../../../src/transfers/accept/accept';
import { buildTransferRequest } from '../../factories';
import { acceptDependencies } from '../../ledger';
import { PostgresProxy } from '../../stack/postgres-proxy';
import { balances, codeOf, createFixture, ethereum, fund, registry, usdc, type Fixture } from '../ledger/fixture';

/** The answer to COMMIT does not arrive: what is answered then is what has happened. */

let fixture: Fixture;
let proxy: PostgresProxy;
let database: DataSource;
beforeAll(async () => {
  fixture = await createFixture({ poolSize: 5 });
  await fund(fixture, 'ETH', 10n ** 19n);
  await fund(fixture, 'USDC', 1000n * usdc);
  proxy = await PostgresProxy.start(fixture.url);
  // two connections: the outcome is asked for on another one than the transaction's
  database = await createDatabase({ url: proxy.url, poolSize: 2, applicationName: 'cut', entities }).initialize();
});
afterAll(async () => {
  await database.destroy();
  await proxy.stop();
  await fixture.close();
});
afterEach(() => {
  proxy.awayMs = 0;
});

const request = () => buildTransferRequest(fixture.account, ethereum, { tokenSymbol: 'USDC', amount: '10' });
const accept = (wanted: ReturnType<typeof request>) => acceptTransfer(acceptDependencies(database, registry), wanted);
const isStored = (txId: string) => fixture.database.manager.existsBy(TransactionEntity, { txId });
const lockedUsdc = async () => (await balances(fixture, 'USDC'))[1];

test('committed: the normal answer', async () => {
  const before = await lockedUsdc();
  const wanted = request();
  proxy.fault = 'answer lost';
  expect(await accept(wanted)).toEqual({ txId: wanted.txId, status: 'PENDING', replayed: false });
  expect(proxy.fault).toBeUndefined();
  expect(await isStored(wanted.txId)).toBe(true);
  expect(await lockedUsdc()).toBe(before + 10n * usdc);
});

test('committed, and the database is away for a second: the normal answer all the same', async () => {
  const wanted = request();
  proxy.fault = 'answer lost';
  proxy.awayMs = 1_000;
  expect(await accept(wanted)).toMatchObject({ txId: wanted.txId, status: 'PENDING' });
});

test('not committed: unavailable, and nothing is stored', async () => {
  const wanted = request();
  proxy.fault = 'never arrives';
  expect(await codeOf(accept(wanted))).toBe('unavailable');
  expect(await isStored(wanted.txId)).toBe(false);
  expect(await accept(wanted)).toMatchObject({ txId: wanted.txId, replayed: false });
});

test('ended by the server during COMMIT: unavailable, and nothing is stored', async () => {
  await fixture.database.query(`create function cut() returns trigger language plpgsql as
    'begin perform pg_sleep(0.3), pg_terminate_backend(pg_backend_pid()), pg_sleep(1); return null; end'`);
  await fixture.database.query(`create constraint trigger cut after insert on transactions deferrable initially deferred
    for each row execute function cut()`);
  const wanted = request();
  try {
    expect(await codeOf(accept(wanted))).toBe('unavailable');
  } finally {
    await fixture.database.query('drop trigger cut on transactions');
  }
  expect(await isStored(wanted.txId)).toBe(false);
});

test('not to be found out: outcome_unknown with tx_id, and the same request finds out later', async () => {
  const wanted = request();
  proxy.fault = 'answer lost';
  proxy.awayMs = 8_000;
  await expect(accept(wanted)).rejects.toMatchObject({ code: 'outcome_unknown', extra: { tx_id: wanted.txId } });
  expect(await isStored(wanted.txId)).toBe(true);
  proxy['awayUntil'] = 0;
  expect(await accept(wanted)).toMatchObject({ txId: wanted.txId, replayed: true });
});

test('an id that the server has given to another transaction after a crash does not count', async () => {
  proxy.fault = 'answer lost';
  const write = inTransaction(
    database,
    (manager) => manager.query('update clients set name = name where client_id = $1', [fixture.account.clientId]),
    {
      isStored: () => Promise.resolve(false),
    },
  );
  expect(await codeOf(write)).toBe('unavailable');
});

test('a rule that is checked at COMMIT is a refusal like any other', async () => {
  const work = inTransaction(database, async (manager) => {
    await manager.query('create temporary table pairs (a int unique deferrable initially deferred) on commit drop');
    await manager.query('insert into pairs values (1), (1)');
  });
  await expect(work).rejects.toMatchObject({ driverError: { code: '23505' } });
});

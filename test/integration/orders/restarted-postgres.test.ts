import { type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { DataSource } from 'typeorm';
import { freePort } from '../../../dev/ports';
import { randomPassword } from '../../../src/cli/setup/new-secrets';
import { isPostgresReady, postgresHome, type PostgresServer, preparePostgres } from '../../../dev/postgres';
import { endProcess, processIdentity, spawnLogged, until } from '../../../dev/processes';
import { nodeIndexes } from '../../../src/messages/nodes';
import { OrderKeys } from '../../../src/mpc/order-keys';
import { OrderComparison } from '../../../src/orders/comparison';
import type { NodeOrders } from '../../../src/orders/node-orders';
import { areOrdersCompared } from '../../../src/orders/reconcile-required';
import { newId } from '../../../src/platform/ids';
import { acceptTransfer } from '../../../src/transfers/accept/accept';
import type { TransferRequest } from '../../../src/transfers/accept/request';
import { buildTransferRequest } from '../../factories';
import { acceptDependencies } from '../../ledger';
import { deployment, orderKeys } from '../../orders';
import { createTemplateDatabase, openDatabase } from '../../stack/database';
import { begun, codeOf, createFixture, ether, ethereum, type Fixture, fund, registry } from '../ledger/fixture';

/** A Postgres of its own stops in its immediate mode, as after a crash, and starts again while Temporal, and with it every node, is away. */

jest.setTimeout(120_000);

const folder = mkdtempSync(path.join(tmpdir(), 'custody-gateway-restart-'));
let options: Parameters<typeof preparePostgres>[0];
let server: PostgresServer;
let postgres: ChildProcess;
let fixture: Fixture;
const opened: DataSource[] = [];

async function start(): Promise<void> {
  server = await preparePostgres(options);
  postgres = spawnLogged(server, path.join(folder, 'postgres.log'));
  if (!(await until(() => isPostgresReady(server.superuserUrl), 30_000))) throw new Error('Postgres did not start');
}

async function stop(signal: NodeJS.Signals): Promise<void> {
  const pid = postgres.pid ?? 0;
  await endProcess(pid, processIdentity(pid) ?? '', signal, 15_000);
}

beforeAll(async () => {
  // as root, Postgres runs as another user, who needs access to the folder
  chmodSync(folder, 0o755);
  options = { folder, port: await freePort(), superuserPassword: randomPassword(), throwaway: true };
  await start();
  process.env.TEST_POSTGRES_URL = server.superuserUrl;
  process.env.TEST_POSTGRES_TEMPLATE = await createTemplateDatabase(server.superuserUrl);
  fixture = await createFixture({ poolSize: 3 });
  await fund(fixture, 'ETH', 10n * ether);
});
afterAll(async () => {
  for (const database of opened) await database.destroy();
  await fixture.database.destroy();
  await stop('SIGINT');
  for (const used of new Set([folder, postgresHome(folder)])) rmSync(used, { recursive: true, force: true });
});

async function connect(url: string): Promise<DataSource> {
  const database = await openDatabase(url);
  opened.push(database);
  return database;
}

const request = (): TransferRequest =>
  buildTransferRequest(fixture.account, ethereum, { tokenSymbol: 'ETH', amount: '1', idempotencyKey: newId() });

test('nothing is lost, accepting waits for the nodes and opens by itself: a restart is not taken for a restore', async () => {
  const logins = await fixture.logins();
  const [api, authoriser] = [await connect(logins.gateway_api), await connect(logins.gateway_authoriser)];
  const accept = (transfer: TransferRequest) => acceptTransfer(acceptDependencies(api, registry), transfer);
  const alerts: unknown[] = [];
  const logger = { warn: () => undefined, error: (line: unknown) => void alerts.push(line) };
  let answers: NodeOrders[] = nodeIndexes.map((node) => ({ node, problem: 'Temporal is unreachable' }));
  const keys = await OrderKeys.create(orderKeys, 'ORDER_KEYS');
  const comparison = new OrderComparison({
    ...{ database: authoriser, ask: () => Promise.resolve(answers), keys, deployment, logger: logger as never },
  });
  const [ordered, waiting] = [request(), request()];
  const { txId } = await accept(ordered);
  await accept(waiting);
  const { order, unsigned } = await begun(fixture, { txId });

  await stop('SIGQUIT');
  expect(await codeOf(accept(request()))).toBe('unavailable');
  await start();
  for (const known of [ordered, waiting])
    expect(await accept({ ...known, txId: newId() })).toMatchObject({ txId: known.txId, replayed: true });
  expect(await codeOf(accept(request()))).toBe('reconcile_required');
  expect(await comparison.run()).toBe('unknown');
  expect(await codeOf(accept(request()))).toBe('reconcile_required');

  // Temporal is back, and the nodes show what they have acted on: all of it is in the database
  answers = nodeIndexes.map((node) => ({
    node,
    answer: { newest: order, orders: [{ compact: order, unsigned }], is_complete: true },
  }));
  expect(await comparison.run()).toBe('compared');
  expect(await areOrdersCompared(api)).toBe(true);
  await accept(request());
  expect(alerts).toEqual([]);
  const [row] = await fixture.database.query<object[]>('select missing_since from order_comparison');
  expect(row).toEqual({ missing_since: null });
});

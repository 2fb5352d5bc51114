import type { DataSource } from 'typeorm';
import { Client } from 'pg';
import { createAuthoriserActivities } from '../../../activities/authoriser';
import type { LoginUrls } from '../../../dev/logins';
import { getFamily } from '../../../src/chains/families';
import type { OrderClaims } from '../../../src/messages/order';
import { OrderKeys } from '../../../src/mpc/order-keys';
import { type Comparison, OrderComparison } from '../../../src/orders/comparison';
import type { AskForOrders, NodeOrders } from '../../../src/orders/node-orders';
import { Orders } from '../../../src/orders/orders';
import { areOrdersCompared } from '../../../src/orders/reconcile-required';
import { newId } from '../../../src/platform/ids';
import { acceptTransfer } from '../../../src/transfers/accept/accept';
import { cancelTransfer } from '../../../src/transfers/end/cancel';
import { hashRequest } from '../../../src/transfers/accept/hash-request';
import type { TransferRequest } from '../../../src/transfers/accept/request';
import { acceptDependencies } from '../../ledger';
import { claimsOf, deployment, forgeOrder, orderHead, orderKeys, orderSigner, signOrder } from '../../orders';
import { nodeKeys } from '../../node-refusals';
import { openDatabase } from '../../stack/database';
import { codeOf, type Fixture, prepared, registry } from '../ledger/fixture';
import { useFundedFixture } from './fixture';
import { newKeyPair } from '../../keys';

/** Whether orders are issued and transfers accepted, with the logins of the processes; the nodes' answers are given. */

let fixture: Fixture;
const { request } = useFundedFixture((it) => (fixture = it));
const opened: DataSource[] = [];
let logins: LoginUrls;
let api: DataSource;
let authoriser: DataSource;
/** What the nodes answer to the question for their newest order; to the other one, with these orders added. */
let answers: NodeOrders[];
let older: Map<Node, string[]>;
let asked: (number | null | undefined)[];
let nowMs: number;
let alerts: string[];

const connect = async (url: string): Promise<DataSource> => {
  const database = await openDatabase(url);
  opened.push(database);
  return database;
};

beforeEach(async () => {
  logins = await fixture.logins();
  [api, authoriser] = await Promise.all([connect(logins.gateway_api), connect(logins.gateway_authoriser)]);
  // as a new or a restored database
  await fixture.database.query('update order_comparison set compared_as = null, compared_at = null');
  [asked, alerts, older, nowMs] = [[], [], new Map(), Date.now()];
  answers = [nothing(1), nothing(2), nothing(3)];
});
afterEach(async () => {
  for (const database of opened.splice(0)) await database.destroy();
});

type Node = 1 | 2 | 3;
const nothing = (node: Node): NodeOrders => shows(node, null);
const shows = (node: Node, newest: string | null): NodeOrders => ({ node, answer: { newest, orders: [], is_complete: true } });
const isDown = (node: Node): NodeOrders => ({ node, problem: 'no response in time' });

const keyOrder = (seq: number, changes: Partial<OrderClaims> = {}): OrderClaims =>
  ({ ...orderHead({ seq }), kind: 'generate_key', key_id: `${newId()}.1`, client_id: null, ...changes }) as OrderClaims;

async function comparison(database = authoriser): Promise<OrderComparison> {
  const logger = {
    warn: () => undefined,
    error: ({ alert }: { alert: string }) => void alerts.push(alert),
  };
  const keys = await OrderKeys.create(orderKeys, 'ORDER_KEYS');
  return new OrderComparison({ database, ask, keys, deployment, logger: logger as never, now: () => nowMs });
}
const ask: AskForOrders = (after) => {
  asked.push(after[1]);
  const showsOlder = (given: NodeOrders): NodeOrders => {
    if (typeof after[given.node] !== 'number' || 'problem' in given) return given;
    const orders = (older.get(given.node) ?? []).map((compact) => ({ compact, unsigned: null }));
    return { node: given.node, answer: { ...given.answer, orders } };
  };
  return Promise.resolve(answers.map(showsOlder));
};
const laterByMinutes = (minutes: number) => (nowMs += minutes * 60_000);
const compare = async (): Promise<Comparison> => (await comparison()).run();

const accept = (transfer: TransferRequest = request(), database = api) =>
  acceptTransfer(acceptDependencies(database, registry), transfer);
const begin = async (txId: string, database = authoriser) => {
  const orders = new Orders({ signer: await orderSigner, deployment });
  const activities = createAuthoriserActivities({ database, registry, getFamily, orders, nodeKeys });
  return activities.beginSigning({ txId, lastAttempt: 0, kind: 'first', prepared: prepared() });
};
const isClosed = async (transfer?: TransferRequest) => {
  expect(await codeOf(accept(transfer))).toBe('reconcile_required');
  expect(await areOrdersCompared(api)).toBe(false);
};

test('before the nodes were asked nothing is accepted or ordered; with their answers that show nothing missing it is', async () => {
  await isClosed();
  const earlier = (await fixture.ledger.lockTransfer(request())).txId;
  expect(await codeOf(begin(earlier))).toBe('reconcile_required');

  answers = [nothing(1), isDown(2), isDown(3)];
  expect(await compare()).toBe('unknown');
  await isClosed();

  answers = [nothing(1), nothing(2), nothing(3)];
  expect(await compare()).toBe('compared');
  expect(await areOrdersCompared(api)).toBe(true);
  const { txId } = await accept();
  expect(await begin(txId)).toMatchObject({ outcome: 'begun' });
  expect(alerts).toEqual([]);
});

test('the first comparison waits three minutes for the third node, then two are enough; one never is', async () => {
  const authorisers = await comparison();
  answers = [nothing(1), isDown(2), nothing(3)];
  expect(await authorisers.run()).toBe('unknown');
  laterByMinutes(2);
  expect(await authorisers.run()).toBe('unknown');
  await isClosed();
  laterByMinutes(2);
  answers = [nothing(1), isDown(2), isDown(3)];
  expect(await authorisers.run()).toBe('unknown');
  answers = [nothing(1), isDown(2), nothing(3)];
  expect(await authorisers.run()).toBe('compared');
  await accept();

  // what is compared stays open with two, or with none
  await fixture.database.query(`update order_comparison set compared_at = now() - interval '2 minutes'`);
  answers = [isDown(1), isDown(2), isDown(3)];
  expect(await authorisers.run()).toBe('compared');
});

test('a node that was away at the first comparison closes the gateway by an older order, though its newest one is known', async () => {
  const authorisers = await comparison();
  answers = [nothing(1), nothing(2), isDown(3)];
  await authorisers.run();
  laterByMinutes(4);
  expect(await authorisers.run()).toBe('compared');
  // the restored gateway has given the numbers of lost orders to other ones
  const begun = await begin((await accept()).txId);
  if (begun.outcome !== 'begun') throw new Error(begun.outcome);
  const { seq } = claimsOf(begun.order);
  older.set(3, [await signOrder(keyOrder(seq)), begun.order]);
  answers = [shows(1, begun.order), nothing(2), shows(3, begun.order)];
  await fixture.database.query(`update order_comparison set compared_at = now() - interval '2 minutes'`);
  expect(await authorisers.run()).toBe('missing');
  await isClosed();
  const [row] = await fixture.database.query<object[]>('select missing_order, missing_node, missing_after from order_comparison');
  expect(row).toEqual({ missing_order: String(seq), missing_node: 3, missing_after: '0' });
});

const storeOrder = (claims: OrderClaims) =>
  fixture.database.query('insert into orders (jti, seq, kind, claims) values ($1, $2, $3, $4)', [
    claims.jti,
    claims.seq,
    claims.kind,
    JSON.stringify(claims),
  ]);

const isDue = () => fixture.database.query(`update order_comparison set compared_at = now() - interval '2 minutes'`);

test('a lost order that a node acts on only after the first comparison closes the gateway when the older ones are read again', async () => {
  const authorisers = await comparison();
  expect(await authorisers.run()).toBe('compared');
  const begun = await begin((await accept()).txId);
  if (begun.outcome !== 'begun') throw new Error(begun.outcome);
  const { seq } = claimsOf(begun.order);
  older.set(2, [await signOrder(keyOrder(seq))]);
  answers = answers.map(({ node }) => shows(node, begun.order));
  laterByMinutes(10);
  await isDue();
  expect(await authorisers.run()).toBe('compared');
  laterByMinutes(2);
  answers = [shows(1, begun.order), isDown(2), shows(3, begun.order)];
  await isDue();
  expect(await authorisers.run()).toBe('compared');
  // the node that was down then is read when it is back
  laterByMinutes(2);
  answers = [shows(1, begun.order), shows(2, begun.order), shows(3, begun.order)];
  await isDue();
  expect(await authorisers.run()).toBe('missing');
});

test('older orders are read twice from each node, from a thousand numbers below the newest of the first comparison', async () => {
  const head = { ...keyOrder(5_000), jti: newId() };
  await storeOrder(head);
  const authorisers = await comparison();
  await authorisers.run();
  expect(asked).toEqual([null, 4_000]);
  await fixture.database.query(`update order_comparison set compared_at = now() - interval '2 minutes'`);
  const later = { ...keyOrder(9_000), jti: newId() };
  await storeOrder(later);
  expect(await authorisers.run()).toBe('compared');
  expect(asked).toEqual([null, 4_000, null]);
  for (let minutes = 0; minutes < 3; minutes += 1) {
    laterByMinutes(11);
    await isDue();
    await authorisers.run();
  }
  expect(asked).toEqual([null, 4_000, null, null, 4_000, null, null]);
  // another process starts at the same number
  await fixture.database.query(`update order_comparison set compared_at = now() - interval '2 minutes'`);
  asked = [];
  await compare();
  expect(asked).toEqual([null, 4_000]);
});

test('a node that shows the newest order of this database agrees, and nodes are not asked again within a minute', async () => {
  await compare();
  const begun = await begin((await accept()).txId);
  if (begun.outcome !== 'begun') throw new Error(begun.outcome);
  await fixture.database.query(`update order_comparison set compared_at = now() - interval '2 minutes'`);
  answers = [shows(1, begun.order), isDown(2), shows(3, begun.order)];
  asked = [];
  expect([await compare(), await compare()]).toEqual(['compared', 'compared']);
  expect(asked).toEqual([null, 0]);
});

test('a node that shows an order which the database does not have closes the gateway, until it is reconciled', async () => {
  await compare();
  const known = request({ idempotencyKey: newId() });
  const { txId } = await accept(known);
  const { order } = (await begin(txId)) as { order: string };
  await fixture.database.query('update order_comparison set compared_as = null');
  answers = [nothing(1), shows(2, await signOrder(keyOrder(4_711))), isDown(3)];
  const authorisers = await comparison();
  expect([await authorisers.run(), await authorisers.run()]).toEqual(['missing', 'missing']);
  expect(alerts).toEqual(['orders_missing']);
  await isClosed();
  const [row] = await fixture.database.query<object[]>('select * from order_comparison');
  expect(row).toMatchObject({
    missing_order: '4711',
    missing_node: 2,
    missing_after: String(Math.max(claimsOf(order).seq - 1_000, 0)),
  });

  const waiting = (await fixture.ledger.lockTransfer(request())).txId;
  expect(await codeOf(begin(waiting))).toBe('reconcile_required');
  // what was accepted before is answered, and another order over its bytes is not issued
  expect(await accept({ ...known, txId: newId() })).toMatchObject({ txId, replayed: true });

  // whoever answers afterwards opens nothing, and no process can
  answers = [nothing(1), nothing(2), nothing(3)];
  expect(await compare()).toBe('missing');
  for (const database of [api, authoriser]) {
    const open = database.query(
      'update order_comparison set missing_since = null, missing_after = null, missing_order = null, missing_node = null',
    );
    await expect(open).rejects.toMatchObject({ driverError: { code: '42501' } });
  }
});

test('while it is closed, nothing that looks untouched ends, and no refusal is final', async () => {
  const { txId } = await fixture.ledger.lockTransfer(request());
  const [row] = await fixture.database.query<{ client_id: string }[]>('select client_id from transactions where tx_id = $1', [
    txId,
  ]);
  const cancel = () =>
    cancelTransfer(api, { clientId: String(row?.client_id), txId, by: { userId: newId(), requestId: newId() } });
  const unknownAsset = request({ tokenSymbol: 'DAI', idempotencyKey: newId() });
  expect(await codeOf(cancel())).toBe('reconcile_required');
  await isClosed(unknownAsset);
  await compare();
  expect(await codeOf(accept(unknownAsset))).toBe('not_found');
  await cancel();
});

test('a request whose transfer was rebuilt after it was looked for is not accepted again', async () => {
  await compare();
  const { txId } = await accept(request({ idempotencyKey: 'first' }));
  const copy = (key: string) =>
    api.query(
      `insert into transactions select (jsonb_populate_record(t, jsonb_build_object('tx_id', $2::uuid, 'idempotency_key', $3::text))).*
         from transactions t where tx_id = $1`,
      [txId, newId(), key],
    );
  const [row] = await fixture.database.query<{ client_id: string }[]>('select client_id from transactions where tx_id = $1', [
    txId,
  ]);
  const hash = hashRequest(String(row?.client_id), 'rebuilt');
  await fixture.database.query('insert into rebuilt_requests (request, tx_id) values ($1, $2)', [hash, txId]);
  await expect(copy('rebuilt')).rejects.toMatchObject({ driverError: { code: 'GW002' } });
  const other = await copy('other').then(
    () => null,
    (error: { driverError?: { code?: string } }) => error.driverError?.code,
  );
  expect(other).not.toBe('GW002');
});

test.each<[string, () => Promise<string>]>([
  ['of another key', () => forgeOrder(keyOrder(9e15), { key: newKeyPair('ed25519').privateKey })],
  ['of another deployment', () => signOrder(keyOrder(9e15, { dep: 'other' }))],
  ['without a signature', async () => (await signOrder(keyOrder(9e15))).replace(/[^.]+$/, 'AAAA')],
  ['that is none', () => Promise.resolve('a.b.c')],
])('a huge number in an order %s closes nothing: the node does not count', async (_, order) => {
  const authorisers = await comparison();
  answers = [shows(1, await order()), nothing(2), isDown(3)];
  expect(await authorisers.run()).toBe('unknown');
  expect(alerts).toEqual(['order_not_ours']);
  laterByMinutes(4);
  expect(await authorisers.run()).toBe('unknown');
  answers = [shows(1, await order()), nothing(2), nothing(3)];
  expect(await authorisers.run()).toBe('compared');
  await accept();
});

test('a copy of a compared database is not compared, whatever its row says', async () => {
  await compare();
  await accept();
  const name = `${new URL(fixture.url).pathname.slice(1)}_copy`;
  const server = process.env.TEST_POSTGRES_URL as string;
  const template = new URL(fixture.url).pathname.slice(1);
  await Promise.all(opened.splice(0).map((database) => database.destroy()));
  const admin = new Client({ connectionString: server });
  await admin.connect();
  await fixture.database.destroy();
  try {
    await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${template}'`);
    await admin.query(`create database ${name} template ${template}`);
    await admin.query(`grant connect on database ${name} to gateway_api, gateway_authoriser`);
    const at = (url: string) => Object.assign(new URL(url), { pathname: `/${name}` }).toString();
    const copied = await connect(at(logins.gateway_api));
    expect(await codeOf(accept(request(), copied))).toBe('reconcile_required');
    expect(await (await comparison(await connect(at(logins.gateway_authoriser)))).run()).toBe('compared');
    await accept(request(), copied);
  } finally {
    for (const database of opened.splice(0)) await database.destroy();
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.end();
    await fixture.database.initialize();
  }
});

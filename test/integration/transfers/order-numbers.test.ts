import type { DataSource } from 'typeorm';
import type { OrderClaims } from '../../../src/messages/order';
import { OrderKeys } from '../../../src/mpc/order-keys';
import type { SeenOrder } from '../../../src/mpc/seen-orders';
import { type Comparison, OrderComparison } from '../../../src/orders/comparison';
import type { AskForOrders } from '../../../src/orders/node-orders';
import { newId } from '../../../src/platform/ids';
import { createLogger } from '../../../src/platform/logging';
import { acceptTransfer } from '../../../src/transfers/accept/accept';
import type { TransferRequest } from '../../../src/transfers/accept/request';
import { acceptDependencies } from '../../ledger';
import { claimsOf, deployment, orderKeys, signOrder } from '../../orders';
import { begun, type Fixture, registry } from '../ledger/fixture';
import { type Backup, backUp } from './backup';
import { useFundedFixture } from './fixture';

/** SECURITY.md, list “Gateway database, its owner or an administrator”: the running number of orders is set, then a backup restored. */

let fixture: Fixture;
const { request } = useFundedFixture((it) => (fixture = it));
let backup: Backup;
let restored: DataSource;
/** What each node has acted on. */
let seen: SeenOrder[];
beforeEach(() => {
  seen = [];
});
afterEach(async () => {
  await restored.destroy();
  await backup.drop();
});

const far = 1_000_000;
const present = 5_000;
const setNumber = (number: number) => fixture.database.query(`select setval('order_numbers', $1)`, [number]);

async function ordered(transfer: TransferRequest): Promise<OrderClaims> {
  const { txId } = await fixture.ledger.lockTransfer(transfer);
  const { unsigned, order } = await begun(fixture, { txId });
  seen.push({ compact: order, unsigned });
  return claimsOf<OrderClaims>(order);
}

/** Honest nodes, all three of them. */
const ask: AskForOrders = (after) => {
  const byNumber = seen.toSorted((a, b) => claimsOf<OrderClaims>(a.compact).seq - claimsOf<OrderClaims>(b.compact).seq);
  const shown = (number: number | null) =>
    byNumber.filter(({ compact }) => number !== null && claimsOf<OrderClaims>(compact).seq > number);
  const answer = (number: number | null) => ({
    ...{ newest: byNumber.at(-1)?.compact ?? null, orders: shown(number), is_complete: true },
  });
  return Promise.resolve(([1, 2, 3] as const).map((node) => ({ node, answer: answer(after[node] ?? null) })));
};

/** The database as it was when the backup was made, compared with the nodes. */
async function restoreAndCompare(): Promise<Comparison> {
  restored = await backup.restore();
  const keys = await OrderKeys.create(orderKeys, 'ORDER_KEYS');
  const logger = createLogger('test', 'error');
  logger.level = 'silent';
  return new OrderComparison({ database: restored, ask, keys, deployment, logger }).run();
}

const again = (transfer: TransferRequest) =>
  acceptTransfer(acceptDependencies(restored, registry), { ...transfer, txId: newId() });

test.each([
  ['far below the present ones: the lost order is not found, and its request is accepted once more', 10, 'compared'],
  ['to one of the last thousand: it is found', present - 500, 'missing'],
  ['not at all: it is found', null, 'missing'],
] as const)('set %s', async (_, number, result) => {
  await setNumber(present);
  await ordered(request());
  backup = await backUp(fixture.database);
  if (number !== null) await setNumber(number);
  const lost = request({ idempotencyKey: newId() });
  expect((await ordered(lost)).seq).toBe((number ?? present + 1) + 1);
  expect(await restoreAndCompare()).toBe(result);
  // the gateway is closed otherwise: order-comparison.test.ts
  if (result === 'compared') expect(await again(lost)).toMatchObject({ status: 'PENDING', replayed: false });
});

test.each([
  ['far above the present ones: an order that had its number before, and that the backup lacks, is not found', far, 'compared'],
  ['not at all: it is found', null, 'missing'],
] as const)('while the transaction of an order is open: set %s', async (_, number, result) => {
  await setNumber(present);
  const [taken] = await fixture.database.query<[{ seq: string }]>(`select nextval('order_numbers') as seq`);
  if (number !== null) await setNumber(number);
  await ordered(request());
  backup = await backUp(fixture.database);
  // it is committed after the backup, with the number that it has taken before
  const lost = request({ idempotencyKey: newId() });
  const claims = await ordered(lost);
  seen[1] = { compact: await signOrder({ ...claims, seq: Number(taken.seq) }), unsigned: seen[1]?.unsigned ?? null };
  expect(await restoreAndCompare()).toBe(result);
});

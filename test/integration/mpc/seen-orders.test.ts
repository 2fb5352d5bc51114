import type { GroupKey } from '../../../src/messages/key-generation';
import { type NodeIndex, nodeIndexes } from '../../../src/messages/nodes';
import type { OrderClaims } from '../../../src/messages/order';
import { readNodeKeys } from '../../../src/mpc/identity';
import { OrderKeys } from '../../../src/mpc/order-keys';
import { type OrdersAnswer, readOrdersAnswer } from '../../../src/mpc/orders-answer';
import { openOrder } from '../../../src/mpc/open-order';
import { claimsOf, deployment, orderKeys, signOrder } from '../../orders';
import { Group, localRegistry } from './group';
import { orderedTransfer, ordersAgain, payTo, stranger } from './transactions';

/** The orders that running nodes have acted on, as they tell the gateway. */

jest.setTimeout(120_000);

const nonce = '0123456789abcdef'.repeat(2);
let group: Group;
let key: GroupKey;
let nonces = 0;

beforeAll(async () => {
  group = await Group.create();
  key = await group.generateKey(1, 'wallet.1');
});
afterAll(() => group.close());

const certificates = () => readNodeKeys(group.files.nodes[1].peerCerts);
const ask = async (node: NodeIndex, after: number | null): Promise<OrdersAnswer> => {
  const request = { after, nonce };
  return readOrdersAnswer(await group.node(node).activities.ordersSeen(request), node, request, certificates());
};
const transfer = (seq: number) => ordersAgain(orderedTransfer(key, localRegistry, { nonce: (nonces += 1) }), seq);

test('both nodes of a session show its order with the bytes, and it is the newest; the third one does not', async () => {
  const ordered = transfer(1_000);
  await group.sign(ordered, 1, 2);
  const compact = await signOrder(ordered.claims);
  for (const node of [1, 2] as const) {
    const { newest, orders, is_complete: isComplete } = await ask(node, 999);
    expect({ newest, orders, isComplete }).toEqual({
      newest: compact,
      orders: [{ compact, unsigned: ordered.unsigned }],
      isComplete: true,
    });
    expect(await ask(node, null)).toMatchObject({ newest: compact, orders: [] });
    expect((await ask(node, 1_000)).orders).toEqual([]);
  }
  expect((await ask(3, 999)).orders).toEqual([]);
  expect(await openOrder(compact, await OrderKeys.create(orderKeys, 'ORDER_KEYS'), deployment)).toEqual(ordered.claims);
});

test('the order to generate a key is shown by all three, and one that a node has refused by none', async () => {
  for (const node of nodeIndexes) {
    const { orders } = await ask(node, 0);
    expect(orders.map(({ compact }) => claimsOf<OrderClaims>(compact).kind)).toContain('generate_key');
  }
  const refused = transfer(2_000);
  payTo(refused, stranger);
  await expect(group.sign(refused, 1, 2)).rejects.toMatchObject({ code: 'intent_mismatch' });
  for (const node of nodeIndexes) expect((await ask(node, 1_999)).orders).toEqual([]);
});

test('an order is kept by a node that was stopped after it', async () => {
  const ordered = transfer(3_000);
  await group.sign(ordered, 2, 3);
  await group.stop(3);
  await group.start(3);
  expect((await ask(3, 2_999)).orders).toHaveLength(1);
  await expect(group.query(3, 'delete from seen_orders')).rejects.toThrow('is kept');
});

test('an answer counts only unchanged, from the node that was asked, and for this question', async () => {
  const request = { after: null, nonce };
  const answer = await group.node(1).activities.ordersSeen(request);
  const read =
    (changes: { text?: string } = {}, node: NodeIndex = 1, asked = request) =>
    () =>
      readOrdersAnswer({ ...answer, ...changes }, node, asked, certificates());
  expect(read()).not.toThrow();
  expect(read({ text: answer.text.replace('"is_complete":true', '"is_complete":false') })).toThrow(/signature does not verify/);
  expect(read({}, 2)).toThrow(/signature does not verify/);
  expect(read({}, 1, { ...request, nonce: nonce.replace('0', '1') })).toThrow(/another question/);
});

test('orders come in pages, oldest first', async () => {
  await group.query(
    1,
    `insert into seen_orders select gen_random_uuid(), 5000 + i, 'a.b.c', null from generate_series(1, 120) i`,
  );
  const [first, second] = [await ask(1, 5_000), await ask(1, 5_100)];
  expect([first.orders.length, first.is_complete, second.orders.length, second.is_complete]).toEqual([100, false, 20, true]);
});

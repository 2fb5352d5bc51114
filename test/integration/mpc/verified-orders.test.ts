import { createPrivateKey, type KeyObject } from 'node:crypto';
import { getFamily } from '../../../src/chains/families';
import type { GroupKey } from '../../../src/messages/key-generation';
import { OrderKeys } from '../../../src/mpc/order-keys';
import { signStatement } from '../../../src/mpc/statement';
import { verifyOrders } from '../../../src/mpc/verify-orders';
import { deployment, orderKeys } from '../../orders';
import { Group, localRegistry } from './group';
import { orderedTransfer } from './transactions';
import { newKeyPair } from '../../keys';

/** The entries of node 1 against the orders that it keeps. Each test changes a row while the rules of the database are off, and undoes it. */

let group: Group;
let key: GroupKey;
let signingKey: KeyObject;
const numbers: string[] = [];

beforeAll(async () => {
  group = await Group.create();
  key = await group.generateKey(1, 'wallet.1');
  signingKey = createPrivateKey(group.files.nodes[1].key);
  for (const nonce of [1, 2]) await group.sign(orderedTransfer(key, localRegistry, { symbol: 'USDC', nonce }), 1, 2);
  const entries = await group.query<{ number: string }>(1, 'select number from journal order by number');
  numbers.push(...entries.map(({ number }) => number));
}, 120_000);
afterAll(() => group.close());

async function verify({ keys = orderKeys, of = deployment } = {}): Promise<unknown[]> {
  const store = await group.openStore(1);
  try {
    const found: unknown[] = [];
    const source = { keys: await OrderKeys.create(keys, 'ORDER_KEYS'), deployment: of, registry: localRegistry, getFamily };
    for await (const difference of verifyOrders(store.database, source)) found.push(difference);
    return found;
  } finally {
    await store.close();
  }
}

/** Runs the statement with the first entry's number as $1, verifies, and puts both tables back. */
async function verifyAfter(change: string, ...values: unknown[]): Promise<unknown[]> {
  const rules = (state: 'enable' | 'disable') =>
    ['journal', 'seen_orders'].map((table) => `alter table ${table} ${state} trigger all`).join('; ');
  await group.query(
    1,
    `${rules('disable')}; create table journal_was as table journal; create table seen_was as table seen_orders`,
  );
  try {
    await group.query(1, change, [numbers[0], ...values]);
    return await verify();
  } finally {
    await group.query(
      1,
      `delete from journal; insert into journal table journal_was; drop table journal_was;
       delete from seen_orders; insert into seen_orders table seen_was; drop table seen_was; ${rules('enable')}`,
    );
  }
}

const first = (difference: string) => [{ table: 'journal', subject: numbers[0], difference }];
const orderOf = `(select order_hash from journal where number = $1)`;
const isItsOrder = `encode(sha256(convert_to(compact, 'UTF8')), 'hex') = ${orderOf}`;

test('entries, orders and signatures of an honest node agree', async () => {
  expect(numbers).toHaveLength(2);
  expect(await verify()).toEqual([]);
});

test.each([
  ['another entry', `(select signature from journal where number <> $1)`],
  ['nothing', `overlay(signature placing '\\x00' from 20)`],
])('a recorded signature of %s is named', async (_, signature) => {
  const swap = `update journal set signature = ${signature} where number = $1`;
  expect(await verifyAfter(swap)).toEqual(first('the recorded signature is not one of its key over its digest'));
});

test('an entry whose order the node does not keep is named, unless it was taken back from a peer', async () => {
  const forget = `delete from seen_orders where ${isItsOrder}`;
  expect(await verifyAfter(forget)).toEqual(first('the node does not keep the order that it names'));
  const takeBack = `with back as (update journal set outcome = 'recovered', signature = null where number = $1) ${forget}`;
  expect(await verifyAfter(takeBack)).toEqual([]);
});

test.each([
  ['digests', { digests: [`0x${'ab'.repeat(32)}`] }],
  ['transaction', { tx_id: 'another' }],
  ['attempt', { attempt: 2 }],
  ['kind', { kind: 'cancellation' }],
  ['number', { order_seq: 77 }],
  ['client', { client_id: 'another' }],
  [
    'list of earlier attempts',
    {
      proofs: [
        { attempt: 1, digests: ['0x00'], endpoint: 'one.example', block: 1, hash: '00', proved_at: '2026-01-01T00:00:00.000Z' },
      ],
    },
  ],
])('an entry with %s that its order does not have is named, although the node has signed it', async (field, changes) => {
  expect(await verifyWith(changes)).toEqual(first(`its order has another ${field}`));
});

test.each([
  ['resources', { resources: ['ethereum/0x00/1'] }],
  ['chain', { chain: 'base' }],
  ['token', { token: '' }],
  ['amount', { amount: '1' }],
  ['fee', { fee: '1' }],
  ['message', { message_key: 'another' }],
])('so is one with %s that the bytes of its order do not have', async (field, changes) => {
  expect(await verifyWith(changes)).toEqual(first(`the bytes of its order have another ${field}`));
});

test('bytes that are not those of the order are named', async () => {
  const swap = `update seen_orders set unsigned = (select unsigned from seen_orders where not ${isItsOrder} and unsigned is not null limit 1) where ${isItsOrder}`;
  expect(await verifyAfter(swap)).toEqual(first('the bytes of its order have another digests'));
});

/** Verifies after the node itself has signed another entry in place of the first one. */
async function verifyWith(changes: object): Promise<unknown[]> {
  const [row] = await group.query<{ statement: string }>(1, 'select statement from journal where number = $1', [numbers[0]]);
  const { text, signature } = signStatement('entry', { ...(JSON.parse(row?.statement ?? '') as object), ...changes }, signingKey);
  return verifyAfter('update journal set statement = $2, statement_signature = $3 where number = $1', text, signature);
}

test('an order that none of the keys has signed, or of another deployment, proves nothing', async () => {
  const unproven = 'its order is not one that a known key of the authoriser has signed for this deployment';
  const all = numbers.map((subject) => ({ table: 'journal', subject, difference: unproven }));
  const stranger = newKeyPair('ed25519').publicKey.export({ format: 'jwk' });
  expect(await verify({ keys: JSON.stringify({ keys: [stranger] }) })).toEqual(all);
  expect(await verify({ of: 'another' })).toEqual(all);
});

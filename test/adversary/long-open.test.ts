import { createPublicClient, http, parseEther, type Address } from 'viem';
import { nodeIndexes } from '../../src/messages/nodes';
import type { OrderClaims } from '../../src/messages/order';
import { ends, transactionWhen } from '../e2e/support';
import { stack } from '../stack/client';
import { nodeIsBack, nodeQuery, signingPairs, stopNode } from './nodes';
import { authoriserSigner, gatewayQuery, query } from './processes';
import { withoutRules } from './rewrites';
import { blacklist, isConfirmed, Scene, withoutWorker } from './scene';
import { amount, type OrderedTransfer } from './transfers';

/** Transfers that are open for longer than an order, and than the day after which nothing is reissued, while no two nodes are there. */

const openHours = 25;

const scene = new Scene();

let completing: OrderedTransfer;
let listed: OrderedTransfer;
let abandoned: OrderedTransfer;
beforeAll(async () => {
  [completing, listed, abandoned] = await withoutWorker(async () => {
    const open = [await scene.order(), await scene.order(), await scene.order()] as const;
    const startAgain = [await stopNode(2), await stopNode(3)];
    try {
      for (const transfer of open)
        await expect(scene.temporal.sign(transfer, { initiator: 1, peer: 2 })).rejects.toMatchObject({
          code: 'signers_unavailable',
        });
      for (const { txId } of open) await letTimePass(txId);
    } finally {
      for (const start of startAgain) start();
      for (const node of [2, 3] as const) await nodeIsBack(node);
    }
    await blacklist(open[1]);
    const request = `insert into operator_requests (tx_id, kind, attempt, operator) values ($1, 'abandon', 1, 'test')`;
    const cancellation = { txId: open[2].txId, lastAttempt: 1, kind: 'cancellation', prepared: await scene.prepared() } as const;
    expect(await scene.temporal.beginSigning(cancellation)).toMatchObject({ outcome: 'refused', code: 'not_cancellable' });
    await query(stack().postgres.operator_url, request, [open[2].txId]);
    expect(await scene.temporal.beginSigning(cancellation)).toMatchObject({ outcome: 'begun', kind: 'cancellation' });
    return open;
  });
});

const ordersOf = ({ txId }: OrderedTransfer) =>
  gatewayQuery<{ kind: string; attempt: number; digests: string[]; age: number }>(
    `select kind, attempt, claims #> '{signers,0,digests}' as digests, extract(epoch from now())::int - (claims ->> 'iat')::int as age
       from orders where tx_id = $1 order by seq`,
    [txId],
  );
const paid = ({ to }: OrderedTransfer) =>
  createPublicClient({ transport: http(stack().chains.ethereum?.rpc) }).getBalance({ address: to as Address });

test('its order has expired: no node signs by it any more', async () => {
  const signer = await authoriserSigner();
  const { iat, exp } = completing.claims;
  const old = { ...completing.claims, iat: iat - openHours * 3600, exp: exp - openHours * 3600 } as OrderClaims;
  const again = { order: await signer.sign(old), unsigned: completing.unsigned };
  for (const pair of signingPairs)
    await expect(scene.temporal.sign(again, pair)).rejects.toMatchObject({
      code: 'order_refused',
      message: expect.stringContaining('exp') as string,
    });
});

test('it completes by another order over the same bytes, and pays once', async () => {
  await isConfirmed(completing);
  const [first, ...later] = await ordersOf(completing);
  expect(first?.age).toBeGreaterThan(openHours * 3600);
  expect(later.length).toBeGreaterThan(0);
  for (const order of later) {
    expect(order).toMatchObject({ kind: 'transfer', attempt: 1, digests: first?.digests });
    expect(order.age).toBeLessThan(3600);
  }
  expect(await paid(completing)).toBe(parseEther(amount));
});

test('one whose recipient its client has blacklisted meanwhile is cancelled: nothing else is ordered, and nothing is paid', async () => {
  expect(await transactionWhen(listed.txId, ends, 120_000)).toMatchObject({
    status: 'FAILED',
    failure: { code: 'address_blacklisted' },
  });
  const [first, ...later] = await ordersOf(listed);
  expect(first).toMatchObject({ kind: 'transfer', attempt: 1 });
  expect(later.length).toBeGreaterThan(0);
  for (const order of later) expect(order).toMatchObject({ kind: 'cancellation', attempt: 2 });
  expect(await paid(listed)).toBe(0n);
  for (const node of nodeIndexes)
    expect(
      await nodeQuery(node, `select from journal where tx_id = $1 and attempt = 1 and outcome = 'signed'`, [listed.txId]),
    ).toEqual([]);
});

test('one that an operator gives up then is cancelled, with its amount unlocked', async () => {
  expect(await transactionWhen(abandoned.txId, ends, 120_000)).toMatchObject({
    status: 'FAILED',
    failure: { code: 'abandoned' },
  });
  const [first, ...later] = await ordersOf(abandoned);
  expect(first).toMatchObject({ kind: 'transfer', attempt: 1 });
  expect(later.length).toBeGreaterThan(0);
  for (const order of later) expect(order).toMatchObject({ kind: 'cancellation', attempt: 2 });
  expect(await paid(abandoned)).toBe(0n);
});

/** What the gateway knows of times is put back; a node has no time of the transfer but that of its own failed session. */
async function letTimePass(txId: string): Promise<void> {
  const before = (column: string) => `${column} = ${column} - interval '${openHours} hours'`;
  const changes = {
    transactions: ['created_at', 'updated_at', 'signing_begun_at'].map(before).join(', '),
    transfer_attempts: before('signing_begun_at'),
    reservations: before('reserved_at'),
    orders: `${before('issued_at')}, claims = claims || jsonb_build_object('iat', (claims ->> 'iat')::bigint - ${openHours * 3600},
      'exp', (claims ->> 'exp')::bigint - ${openHours * 3600})`,
  };
  for (const [table, change] of Object.entries(changes))
    await withoutRules(table, (database) => database.query(`update ${table} set ${change} where tx_id = $1`, [txId]));
}

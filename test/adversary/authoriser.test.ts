import { readFileSync } from 'node:fs';
import { parseEther, type Address } from 'viem';
import type { OrderClaims } from '../../src/messages/order';
import { OrderSigner } from '../../src/orders/signer';
import { digestOf } from '../evm';
import { randomAddress } from '../factories';
import { orderHead } from '../orders';
import { stack } from '../stack/client';
import { pids } from '../stack/pause';
import { alarms, nodeQuery, signingPairs } from './nodes';
import { environmentOf, loginOf, refusal } from './processes';
import { isConfirmed, Scene, withoutWorker } from './scene';
import { alter, type OrderedTransfer } from './transfers';

/** SECURITY.md, row `authoriser`: somebody has the order key, and the authoriser's login. */

const scene = new Scene();
let signer: OrderSigner;
/** A transfer that nodes 1 and 2 have signed. */
let ordered: OrderedTransfer;
beforeAll(async () => {
  const [pid = 0] = pids('authoriser');
  signer = await OrderSigner.create(readFileSync(environmentOf(pid).ORDER_KEY_FILE ?? '', 'utf8'));
  ordered = await withoutWorker(async () => {
    const real = await scene.order();
    await scene.temporal.sign(real, { initiator: 1, peer: 2 });
    return real;
  });
}, 120_000);
afterAll(() => isConfirmed(ordered));

type Changes = Partial<OrderedTransfer['claims']>;

/** An order that the authoriser's own key has signed, over other bytes; claims and bytes agree unless `changes` say otherwise. */
async function orderOver(bytes: Parameters<typeof alter>[1], changes: Changes = {}) {
  const unsigned = alter(ordered.unsigned, bytes);
  const { claims } = ordered;
  const recipients = claims.recipients.map((paid) => ({
    ...paid,
    address: bytes.to ?? paid.address,
    amount: bytes.value?.toString() ?? paid.amount,
  }));
  const signers = claims.signers.map((one) => ({ ...one, digests: [digestOf(unsigned, claims.from)] }));
  const head = orderHead({ dep: claims.dep, seq: claims.seq + 1_000 });
  const order = await signer.sign({ ...claims, ...head, recipients, signers, ...changes } as OrderClaims);
  return { order, unsigned };
}

const refusedByAll = async (made: { order: string; unsigned: `0x${string}` }, code: string, reason: string) => {
  for (const pair of signingPairs)
    await expect(scene.temporal.sign(made, pair)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(reason) as string,
    });
};

test('cannot have other bytes signed for an attempt than the first that it ordered: an alarm at the nodes that signed', async () => {
  const made = await orderOver({ to: randomAddress() as Address, nonce: 5_000 });
  await refusedByAll(made, 'intent_mismatch', 'digests');
  for (const node of [1, 2] as const)
    expect(alarms(node)).toContainEqual(expect.objectContaining({ alert: 'journal_contradicted', tx_id: ordered.txId }));
});

test('cannot have a later attempt signed that could be executed beside the first', async () => {
  const made = await orderOver({ nonce: 5_000 }, { attempt: 2, kind: 'replacement' });
  for (const pair of signingPairs)
    await expect(scene.temporal.sign(made, pair)).rejects.toMatchObject({
      code: 'intent_mismatch',
      message: expect.stringContaining('resources') as string,
    });
  expect(await nodeQuery(1, 'select from journal where tx_id = $1 and attempt = 2', [ordered.txId])).toEqual([]);
});

test('cannot use a key for another client than it is bound to', async () => {
  const { client_id: other = '' } = stack().clients.find(({ name }) => name === 'other') ?? {};
  const made = await orderOver({ nonce: 5_000 }, { tx_id: crypto.randomUUID(), client_id: other });
  await refusedByAll(made, 'intent_mismatch', 'client_id');
});

test('cannot have digests signed, nor bytes that are no transaction of a chain and token that the nodes know', async () => {
  const { claims } = ordered;
  const head = orderHead({ dep: claims.dep, seq: claims.seq + 1_000 });
  const { tx_id, attempt, client_id, request, signers, chain, from } = claims;
  const facts = { kind: 'typed_data', tx_id, attempt, client_id, request, signers, chain, from } as const;
  const typed = await signer.sign({ ...head, ...facts });
  await refusedByAll({ order: typed, unsigned: ordered.unsigned }, 'order_refused', 'kind');
  const made = await orderOver({ nonce: 5_000 }, { tx_id: crypto.randomUUID() });
  await refusedByAll({ ...made, unsigned: claims.signers[0]?.digests[0] ?? '0x' }, 'intent_mismatch', 'unsigned');
  const unknown = randomAddress() as Address;
  const token = { to: unknown, value: 0n, data: transferCall(randomAddress(), 5n) };
  await refusedByAll(await orderOver(token, { tx_id: crypto.randomUUID() }), 'intent_mismatch', 'recipients');
});

test('cannot order a fee above what the nodes allow on the chain', async () => {
  const made = await orderOver(
    { nonce: 5_000, maxFeePerGas: parseEther('1') },
    { tx_id: crypto.randomUUID(), max_fee: '1'.padEnd(30, '0') },
  );
  await refusedByAll(made, 'intent_mismatch', 'max_fee');
});

test.each([
  ['approve', `update transactions set approved_by = requested_by, approved_at = now() where tx_id = :tx`],
  ['accept or change a transfer', `update transactions set amount = 1 where tx_id = :tx`],
  ['pay another', `update transactions set to_address = from_address where tx_id = :tx`],
  ['end a transfer', `update transactions set status = 'FAILED', version = version + 1 where tx_id = :tx`],
  ['credit a balance', `update ledger_accounts set available = available + 1`],
])('cannot %s in the database', async (_, statement) => {
  expect(await refusal(loginOf('gateway_authoriser'), statement.replace(':tx', `'${ordered.txId}'`))).toBe('42501');
});

function transferCall(to: string, amount: bigint): `0x${string}` {
  return `0xa9059cbb${to.slice(2).toLowerCase().padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`;
}

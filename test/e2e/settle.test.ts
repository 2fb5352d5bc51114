import { randomInt } from 'node:crypto';
import type { Address } from 'viem';
import type { JsonObject } from '../../src/chains/types';
import { type Settled as Decided, settle as untilDecided } from '../crash/settling';
import { account } from '../integration/dev/payers';
import { api, fund, send, stack } from '../stack/client';
import { randomAddress } from '../factories';
import { change } from '../unit/x402/bodies';
import { type Kind, signed } from '../x402';
import { ledgerDifferences } from './ledger';
import { approvePermit2, paidChain, untilSettling, usdcOf } from './payers';
import { transactionWhen } from './support';

/** Payments of somebody else that sellers have settled on the running stack. */

const payer = account(`settled ${Date.now()}`);
/** Nobody else's, so that what it has got are the payments of these tests: other files run at the same time. */
const payTo = randomAddress() as Address;
let settler: Address;

interface Settled {
  success: boolean;
  transaction: string;
  network: string;
  payer?: string;
  txId?: string;
  amount?: string;
  errorReason?: string;
}

const settle = (body: unknown, name: 'demo' | 'other' = 'demo', headers: Record<string, string> = {}) =>
  api(name).request<Settled>('POST', '/x402/settle', { body: body as object, headers });
const pay = (kind: Kind, changes: JsonObject = {}) => signed({ kind, payer, facilitator: settler, payTo, changes });

beforeAll(async () => {
  settler = await untilSettling();
  await fund(paidChain, 'USDC', payer.address, '10');
  await approvePermit2(payer);
});

test.each<Kind>(['eip3009 V1', 'eip3009', 'permit2', 'upto'])(
  '%s: it is paid once, and answered alike ever after',
  async (kind) => {
    const [before, body] = [await usdcOf(payTo), await pay(kind)];
    const { status, body: first } = await settle(body);
    expect({ status, first }).toMatchObject({
      status: 200,
      first: { success: true, network: 'eip155:8453', payer: payer.address, amount: '1000' },
    });
    expect(first.transaction).toMatch(/^0x[0-9a-f]{64}$/);
    expect((await usdcOf(payTo)) - before).toBe(1_000n);
    expect((await settle(body)).body).toEqual(first);
    const ended = await transactionWhen(String(first.txId), ['CONFIRMED']);
    expect(ended).toMatchObject({
      ...{ transaction_type: 'X402_SETTLE', from_address: payer.address, amount: '0.001', tx_hash: first.transaction },
      wallet_id: null,
    });
    expect((await settle(body)).body).toEqual(first);
    expect((await usdcOf(payTo)) - before).toBe(1_000n);
  },
);

test('of 20 equal requests at once one pays, and all get its answer', async () => {
  const [before, body] = [await usdcOf(payTo), await pay('eip3009')];
  const answers = await Promise.all(Array.from({ length: 20 }, () => settle(body)));
  const [first] = answers;
  expect(first?.body.success).toBe(true);
  for (const answer of answers) expect(answer.body).toEqual(first?.body);
  expect((await usdcOf(payTo)) - before).toBe(1_000n);
});

test('100 payments, 16 at a time, are all paid', async () => {
  const before = await usdcOf(payTo);
  const bodies = await Promise.all(Array.from({ length: 100 }, () => pay('eip3009')));
  const answers: Decided[] = [];
  const workers = Array.from({ length: 16 }, async () => {
    // on a busy machine some are answered settlement_pending first
    for (let body = bodies.pop(); body; body = bodies.pop()) answers.push(await untilDecided(body));
  });
  await Promise.all(workers);
  expect(answers.filter(({ success }) => !success)).toEqual([]);
  expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(100);
  expect((await usdcOf(payTo)) - before).toBe(100_000n);
});

describe('upto', () => {
  const asked = (body: JsonObject, amount: string) => change(body, { 'required.amount': amount });

  test('takes less than was authorised', async () => {
    const before = await usdcOf(payTo);
    expect((await settle(asked(await pay('upto'), '400'))).body).toMatchObject({ success: true, amount: '400' });
    expect((await usdcOf(payTo)) - before).toBe(400n);
  });

  test('takes no more', async () => {
    expect((await settle(asked(await pay('upto'), '1001'))).body).toMatchObject({
      ...{ success: false, transaction: '' },
      errorReason: 'invalid_upto_evm_payload_settlement_exceeds_amount',
    });
  });

  test('of nothing sends nothing, and the permit is used up all the same', async () => {
    const body = await pay('upto');
    const nothing = (await settle(asked(body, '0'))).body;
    expect(nothing).toMatchObject({ success: true, transaction: '', amount: '0' });
    expect((await settle(asked(body, '0'))).body).toEqual(nothing);
    expect((await settle(asked(body, '500'))).body).toMatchObject({ success: false, errorReason: 'duplicate_settlement' });
  });
});

test('what is not valid is not accepted, and nothing is used up', async () => {
  const body = await pay('eip3009');
  const wrong = change(body, { 'authorization.value': '999', 'terms.amount': '999' });
  expect((await settle(wrong)).body).toMatchObject({
    success: false,
    transaction: '',
    errorReason: 'invalid_exact_evm_signature',
  });
  expect((await settle(body, 'other')).body).toMatchObject({ success: false, errorReason: 'invalid_network' });
  expect((await settle(body)).body.success).toBe(true);
  for (const rubbish of [{}, [], { x402Version: 2 }])
    expect(await settle(rubbish)).toMatchObject({ status: 200, body: { success: false, network: '', transaction: '' } });
  expect((await send('POST', `${stack().base_url}/x402/settle`)).status).toBe(401);
});

test('nobody waits with respond-async', async () => {
  const body = await pay('eip3009');
  const { body: accepted, headers } = await settle(body, 'demo', { Prefer: 'respond-async' });
  expect(accepted).toMatchObject({ success: true, transaction: '' });
  expect(headers.get('preference-applied')).toBe('respond-async');
  expect((await settle(body)).body).toMatchObject({ success: true, txId: accepted.txId, amount: '1000' });
});

test('a name of a payment is of that payment', async () => {
  const paymentId = `payment-${randomInt(1e9)}-of-a-test`;
  const named = (body: JsonObject) =>
    change(body, { 'paymentPayload.extensions': { 'payment-identifier': { info: { id: paymentId } } } });
  const body = named(await pay('eip3009'));
  const { body: first } = await settle(body);
  expect(first.success).toBe(true);
  expect((await settle(body)).body).toEqual(first);
  expect((await settle(named(await pay('eip3009')))).body.errorReason).toBe('payment_identifier_conflict');
});

afterAll(async () => {
  expect(await ledgerDifferences()).toEqual([]);
});

import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Address, Hex } from 'viem';
import { mintToken } from '../../../dev/chain';
import { dropDoubtedOrdinal, recordDoubtedOrdinal } from '../../../src/chains/reservations';
import type { JsonObject } from '../../../src/chains/types';
import { ClientEntity } from '../../../src/auth/entity';
import { buildAccount, buildWallet, fundAccount, randomAddress, setFeeLevels } from '../../factories';
import { waitFor } from '../../stack/client';
import { placeFactory, type UncreatedWallet, walletFactory, walletOf, wrapSignature } from '../../wallet-factory';
import { metricValue } from '../../metrics';
import { signed } from '../../x402';
import { change } from '../../unit/x402/bodies';
import { type Payers, startPayers } from '../dev/payers';
import { type Answer, buildTenant, createFixture, type Fixture, type Tenant } from '../http/fixture';
import { base, paymentsOn, setPolicy } from './seller';
import { buildSettler } from './settlement-fixture';

/** Whether a settlement is accepted, and what is answered while no workflow runs. */

jest.setTimeout(120_000);

const coins = 10n ** 18n;
let payers: Payers;
let fixture: Fixture;
let seller: Tenant;
let settler: Awaited<ReturnType<typeof buildSettler>>;

beforeAll(async () => {
  payers = await startPayers();
  fixture = await createFixture({ payments: paymentsOn(payers.anvil.rpc), settleWaitMs: { 1: 400, 2: 200, longest: 6_000 } });
  settler = await buildSettler(fixture.database, base);
  await query('update settlers set is_primary = true where settler_id = $1', [settler.settler.settlerId]);
  await fundAccount(fixture.database, settler.account, base, 'ETH', coins);
  await setFeeLevels(fixture.database, base);
});
beforeEach(async () => {
  seller = await buildTenant(fixture);
  await allow(seller);
});
afterAll(async () => {
  await fixture?.close();
  await payers?.anvil.stop();
});

const query = <T>(sql: string, values: unknown[] = []): Promise<T[]> => fixture.database.query<T[]>(sql, values);
const allow = (tenant: Tenant) => setPolicy(fixture.database, tenant);
const payment = (changes: JsonObject = {}) =>
  signed({ kind: 'eip3009', payer: payers.payer, facilitator: settler.account.address as Address, changes });

const settle = async (body: unknown, headers: Record<string, string> = {}, tenant: Tenant = seller) => {
  const { status, body: answer } = await fixture.call('POST', '/x402/settle', { tenant, body, headers });
  expect(status).toBe(200);
  return answer as Record<string, unknown>;
};
const accepted = async (body: unknown) => {
  const { txId } = await settle(body, { Prefer: 'respond-async' });
  return String(txId);
};
const statusOf = async (txId: unknown) =>
  (await query<{ status: string }>('select status from transactions where tx_id = $1', [txId]))[0]?.status;
/** As the authoriser does, whatever follows. */
const begin = (txId: string) =>
  query(`update transactions set status = 'SIGNING', version = version + 1, signing_begun_at = now() where tx_id = $1`, [txId]);
/** As the follower does: a block has its first attempt, which has paid or was reverted. Returns the hash. */
async function include(txId: string, success = true): Promise<string> {
  const hash = `0x${randomBytes(32).toString('hex')}`;
  await query(
    `insert into transfer_attempts (tx_id, attempt, kind, chain, prepared, unsigned, signers, message_key, fee_bound)
     values ($1, 1, 'first', 'base', '{}', '0x00', '[]', $2, 1)`,
    [txId, hash],
  );
  await query(`update transfer_attempts set signed = '0x00', tx_hash = $2, signed_at = now() where tx_id = $1`, [txId, hash]);
  await query(
    `update transfer_attempts set block_number = 1, block_hash = $2, success = $3, fee = 1, debited = $4, received = $4, included_id = $2
      where tx_id = $1`,
    [txId, hash, success, success ? 1_000 : null],
  );
  return hash;
}
/** Date alone is another one. */
const notClocks = [
  ...(['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'] as const),
  ...(['nextTick', 'queueMicrotask', 'performance', 'hrtime'] as const),
];
const settlementsOf = ({ clientId }: Tenant) =>
  query<{ tx_id: string }>('select tx_id from x402_settlements where client_id = $1', [clientId]);

test('an accepted settlement has its transaction, its workflow and its audit row', async () => {
  const txId = await accepted(await payment());
  const [row] = await query('select * from transactions where tx_id = $1', [txId]);
  expect(row).toMatchObject({
    ...{ transaction_type: 'X402_SETTLE', client_id: seller.clientId, wallet_id: null, account_id: null, amount: '1000' },
    ...{ from_address: payers.payer.address, sender_address: settler.account.address, status: 'PENDING' },
  });
  // the answer does not wait for the start
  await fixture.resources.outbox.settled();
  expect(fixture.workflows.started).toContain(txId);
  const [audited] = await query('select action, outcome from audit_events where subject_id = $1', [txId]);
  expect(audited).toEqual({ action: 'settlement.accepted', outcome: 'success' });
});

describe('of a payer whose wallet does not exist yet', () => {
  let wallet: UncreatedWallet;
  beforeAll(async () => {
    await placeFactory(payers.anvil.chain);
    wallet = await walletOf(payers.payer.address, 'settled');
    await mintToken(payers.anvil.chain, payers.usdc, wallet.address, 5_000n);
  });
  const wrapped = async (data: Hex = wallet.data) => {
    const body = await signed({ kind: 'eip3009', payer: payers.payer, from: wallet.address });
    return wrapAgain(body, data);
  };
  const wrapAgain = (body: JsonObject, data: Hex) => {
    const { signature } = (body.paymentPayload as { payload: { signature: Hex } }).payload;
    return change(body, { 'payload.signature': wrapSignature(walletFactory, data, signature) });
  };
  const boundOf = async (txId: string) =>
    BigInt(
      (await query<{ gas_bound: string }>('select gas_bound from x402_settlements where tx_id = $1', [txId]))[0]?.gas_bound ?? 0,
    );

  test('a settlement is accepted once an operator has named the factory, and counts with the gas that it may need', async () => {
    const refusedBefore = await settle(await wrapped());
    expect(refusedBefore).toMatchObject({ success: false, errorReason: 'eip6492_factory_not_allowed' });
    const buyer = await buildTenant(fixture);
    await setPolicy(fixture.database, buyer, { walletFactories: [walletFactory] });
    const bare = await signed({ kind: 'eip3009', payer: payers.payer, from: wallet.address });
    const body = wrapAgain(bare, wallet.data);
    const { txId, success } = await settle(body, { Prefer: 'respond-async' }, buyer);
    expect(success).toBe(true);
    const [row] = await query('select sponsoring, action from x402_settlements where tx_id = $1', [txId]);
    const deployment = { factory: walletFactory, data: wallet.data };
    expect(row).toMatchObject({ sponsoring: 'deployment', action: { payer: wallet.address, deployment } });
    expect(await boundOf(String(txId))).toBe(5n * (await boundOf(await accepted(await payment()))));
    // the same one is joined, and another wrapper of the same payment is another request
    expect(await settle(body, { Prefer: 'respond-async' }, buyer)).toMatchObject({ txId });
    for (const other of [bare, wrapAgain(bare, `${wallet.data}00`)])
      expect(await settle(other, {}, buyer)).toMatchObject({ success: false, errorReason: 'duplicate_settlement' });
  });

  const open = { Prefer: 'respond-async' };
  /** Another wallet of the payer, and the next payment of it. */
  const another = async (name: string) => {
    const next = await walletOf(payers.payer.address, name);
    await mintToken(payers.anvil.chain, payers.usdc, next.address, 5_000n);
    return async () => wrapAgain(await signed({ kind: 'eip3009', payer: payers.payer, from: next.address }), next.data);
  };
  const allowed = async () => {
    const buyer = await buildTenant(fixture);
    await setPolicy(fixture.database, buyer, { walletFactories: [walletFactory] });
    return buyer;
  };

  test('is created by one settlement at a time, of whichever client; another wallet by another', async () => {
    const [buyer, other] = [await allowed(), await allowed()];
    const pay = await another('one at a time');
    const bodies = await Promise.all([pay(), pay(), pay(), pay()]);
    const answers = await Promise.all(bodies.map((body, index) => settle(body, open, index % 2 === 0 ? buyer : other)));
    const reasons = answers.map(({ success, errorReason }) => (success === true ? 'accepted' : errorReason));
    expect(reasons.sort()).toEqual(['accepted', ...Array<string>(3).fill('unexpected_settle_error')]);
    expect([...(await settlementsOf(buyer)), ...(await settlementsOf(other))]).toHaveLength(1);
    expect(await settle(await (await another('beside it'))(), open, buyer)).toMatchObject({ success: true });
    // it has ended, with the wallet or without it
    const { txId } = answers.find(({ success }) => success === true) ?? {};
    await query(`update transactions set status = 'CANCELLED', version = version + 1 where tx_id = $1`, [txId]);
    expect(await settle(await pay(), open, other)).toMatchObject({ success: true });
  });

  test('what nodes refuse of it keeps back only what creates a wallet too', async () => {
    const buyer = await allowed();
    const { txId } = await settle(await (await another('refused by nodes'))(), open, buyer);
    await begin(String(txId));
    await query(`update transactions set cancellation_reason = 'node_policy' where tx_id = $1`, [txId]);
    const next = await (await another('refused next'))();
    expect(await settle(next, open, buyer)).toMatchObject({ success: false, errorReason: 'unexpected_settle_error' });
    expect(await settle(await payment(), open, buyer)).toMatchObject({ success: true });
    expect(await settle(next, open, await allowed())).toMatchObject({ success: true });
  });

  test('what would not create it is refused, and nothing is stored', async () => {
    const buyer = await buildTenant(fixture);
    await setPolicy(fixture.database, buyer, { walletFactories: [walletFactory] });
    const answer = await settle(await wrapped('0x12345678'), {}, buyer);
    expect(answer).toMatchObject({ success: false, errorReason: 'smart_wallet_deployment_failed' });
    expect(await settlementsOf(buyer)).toEqual([]);
  });
});

describe('at the end of the wait', () => {
  test('a settlement of which nothing was begun is cancelled, and the payment may be settled again', async () => {
    const body = await payment();
    const answer = await settle(body);
    expect(answer).toMatchObject({ success: false, transaction: '', errorReason: 'unexpected_settle_error' });
    expect(await statusOf(answer.txId)).toBe('CANCELLED');
    const again = await settle(body);
    expect(again.txId).not.toBe(answer.txId);
  });

  test('one that is begun is pending, and joined by the same request', async () => {
    const body = await payment();
    const txId = await accepted(body);
    await begin(txId);
    const labels = { scheme: 'exact', reason: 'settlement_pending' };
    const counted = async () => [
      await metricValue('gateway_x402_settlements_total', labels),
      await metricValue('gateway_x402_settlement_duration_seconds_count', { outcome: 'settlement_pending' }),
    ];
    const [settlements = 0, durations = 0] = await counted();
    for (let times = 0; times < 2; times += 1)
      expect(await settle(body)).toMatchObject({ success: false, errorReason: 'settlement_pending', txId });
    expect(await statusOf(txId)).toBe('SIGNING');
    expect(await counted()).toEqual([settlements + 2, durations + 2]);
  });
});

test('one client cannot take all the room of requests that wait, and who does not wait needs none', async () => {
  const other = await buildTenant(fixture);
  await allow(other);
  const body = await payment();
  const txId = await accepted(body);
  await begin(txId);
  const waits = { tenant: seller, body, headers: { Prefer: 'wait=60' } };
  const early: Answer[] = [];
  const answers = Array.from({ length: 105 }, async () => {
    const answer = await fixture.call('POST', '/x402/settle', waits);
    early.push(answer);
    return answer;
  });
  // the five that find no room are answered while the others wait
  await waitFor(() => early.length >= 5);
  expect(early.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 503));
  expect(await settle(await payment(), {}, other)).toHaveProperty('txId');
  expect(await settle(await payment(), { Prefer: 'respond-async' })).toMatchObject({ success: true });
  // what they wait for, at once for all of them
  await include(txId);
  const refused = (await Promise.all(answers)).filter(({ status }) => status === 503);
  expect(refused).toHaveLength(5);
  expect(refused[0]?.body).toMatchObject({ code: 'unavailable' });
  // they have left their room
  expect(await settle(await payment())).toHaveProperty('txId');
});

describe('a payment that is claimed', () => {
  test('is a duplicate for another client, and for another request of the same one', async () => {
    const other = await buildTenant(fixture);
    await allow(other);
    const body = await payment();
    const txId = await accepted(body);
    await begin(txId);
    expect(await settle(body, {}, other)).toMatchObject({ success: false, errorReason: 'duplicate_settlement' });
    const changed = change(body, { 'payload.signature': `0x${'1b'.repeat(65)}` });
    expect(await settle(changed)).toMatchObject({ success: false, errorReason: 'duplicate_settlement' });
    expect(await settlementsOf(other)).toEqual([]);
  });

  test('is claimed once by requests at the same time', async () => {
    const body = await payment();
    const answers = await Promise.all(Array.from({ length: 10 }, () => settle(body, { Prefer: 'respond-async' })));
    expect(new Set(answers.map(({ txId }) => txId)).size).toBe(1);
    expect(await settlementsOf(seller)).toHaveLength(1);
  });

  test('that was paid is answered alike a day later, to 20 requests at once', async () => {
    const body = await payment();
    const txId = await accepted(body);
    await begin(txId);
    const hash = await include(txId);
    const first = await settle(body);
    expect(first).toMatchObject({ success: true, transaction: hash, txId, amount: '1000' });
    jest.useFakeTimers({ now: Date.now() + 25 * 60 * 60 * 1000, doNotFake: notClocks });
    try {
      const { apiKey, apiSecret } = seller;
      const headers = { 'X-API-Key': apiKey, 'X-API-Secret': apiSecret };
      const { body: login } = await fixture.call('POST', '/auth/token', { tenant: null, headers });
      const later = { ...seller, token: String(login['token']) };
      const answers = await Promise.all(Array.from({ length: 20 }, () => settle(body, {}, later)));
      for (const answer of answers) expect(answer).toEqual(first);
      // its time is over: it would not be accepted now
      const unclaimed = await payment({ 'authorization.validBefore': String(Math.floor(Date.now() / 1000) - 24 * 60 * 60) });
      expect(await settle(unclaimed, {}, later)).toMatchObject({ success: false, transaction: '' });
    } finally {
      jest.useRealTimers();
    }
    expect(await settlementsOf(seller)).toHaveLength(1);
  });

  test('is answered for ever, also when its time is over', async () => {
    const now = Math.floor(Date.now() / 1000);
    const body = await payment({ 'authorization.validBefore': String(now + 12) });
    const txId = await accepted(body);
    await begin(txId);
    await new Promise((resolve) => setTimeout(resolve, 7_000));
    const late = await settle(body);
    expect(late).toMatchObject({ errorReason: 'settlement_pending', txId });
    const unclaimed = await payment({ 'authorization.validBefore': String(now + 12) });
    expect(await settle(unclaimed)).toMatchObject({ errorReason: 'invalid_exact_evm_payload_authorization_valid_before' });
  });
});

describe('of what a payer has signed at most, who takes less', () => {
  const upto = (to: string = randomAddress()) =>
    signed({
      kind: 'upto',
      payer: payers.payer,
      facilitator: settler.account.address as Address,
      payTo: to as Address,
    });
  const taken = (body: JsonObject, amount: string, tenant: Tenant = seller) =>
    settle(change(body, { 'required.amount': amount }), { Prefer: 'respond-async' }, tenant);
  const verdict = async (body: JsonObject, tenant: Tenant) =>
    (await fixture.call('POST', '/x402/verify', { tenant, body })).body['invalidReason'];
  let other: Tenant;
  const allowed = async () => {
    const tenant = await buildTenant(fixture);
    await allow(tenant);
    return tenant;
  };
  beforeEach(async () => {
    other = await allowed();
  });

  test('nothing: keeps no other client from having it settled, whose it may be', async () => {
    const body = await upto();
    expect(await taken(body, '0', other)).toMatchObject({ success: true, transaction: '', amount: '0' });
    expect(await verdict(body, seller)).toBeNull();
    expect(await verdict(body, other)).toBe('duplicate_settlement');
    expect(await taken(body, '500', other)).toMatchObject({ errorReason: 'duplicate_settlement' });
    const { txId } = await taken(body, '500');
    expect(await statusOf(txId)).toBe('PENDING');
    expect(await taken(body, '500')).toMatchObject({ success: true, txId });
    expect(await taken(body, '500', other)).toMatchObject({ errorReason: 'duplicate_settlement' });
    // still what this client has said first
    expect(await taken(body, '0', other)).toMatchObject({ success: true, amount: '0' });
    expect(await taken(body, '0', await allowed())).toMatchObject({ errorReason: 'duplicate_settlement' });
  });

  test('of a payment to an account of the gateway, is its own client alone', async () => {
    const client = await fixture.database.manager.findOneByOrFail(ClientEntity, { clientId: other.clientId });
    const { address } = await buildAccount(fixture.database, await buildWallet(fixture.database, client), base);
    const body = await upto(address);
    for (const amount of ['0', '500'])
      expect(await taken(body, amount)).toMatchObject({ success: false, errorReason: 'invalid_payment_requirements' });
    expect(await taken(body, '500', other)).toMatchObject({ success: true });
    // all of it may be paid by anybody
    expect(await taken(await upto(address), '1000')).toMatchObject({ success: true });
  });
});

describe('is not accepted', () => {
  const refusals = async (body: unknown, errorReason: string) => {
    expect(await settle(body)).toMatchObject({ success: false, transaction: '', errorReason });
    expect(await settlementsOf(seller)).toEqual([]);
  };

  test('beyond what the house pays for the client in a day', async () => {
    await query('update x402_policies set gas_per_day = 1 where client_id = $1', [seller.clientId]);
    await refusals(await payment(), 'unexpected_settle_error');
  });

  test('of a payer of whom too many payments have failed on the chain, until that is an hour ago', async () => {
    await query('update x402_policies set failures_per_payer = 2 where client_id = $1', [seller.clientId]);
    const bodies = await Promise.all(Array.from({ length: 3 }, () => payment()));
    for (const body of bodies.slice(0, 2)) {
      const txId = await accepted(body);
      await begin(txId);
      await include(txId, false);
    }
    const next = bodies[2];
    const verified = async (tenant = seller) =>
      (await fixture.call('POST', '/x402/verify', { tenant, body: next })).body['invalidReason'];
    expect(await settle(next)).toMatchObject({ success: false, transaction: '', errorReason: 'invalid_transaction_state' });
    // once it has read again what there is about the client
    for (const until = Date.now() + 10_000; (await verified()) === null && Date.now() < until;) await delay(200);
    expect(await verified()).toBe('invalid_transaction_state');
    expect(await settlementsOf(seller)).toHaveLength(2);
    // who has not signed for the payer is told nothing of it
    const forged = change(await payment(), { 'authorization.nonce': `0x${'5'.repeat(64)}` });
    expect((await settle(forged))['errorReason']).toBe('invalid_exact_evm_signature');
    // what it has had settled is answered as before
    expect((await settle(bodies[0]))['errorReason']).toBe('settlement_pending');
    const other = await buildTenant(fixture);
    await allow(other);
    expect(await verified(other)).toBeNull();
    await query(`update x402_failures set failed_at = failed_at - interval '1 hour' where client_id = $1`, [seller.clientId]);
    expect(await verified()).toBeNull();
    expect(await settle(next, { Prefer: 'respond-async' })).toMatchObject({ success: true });
  });

  test('without a settler that has the coins', async () => {
    await query(`update ledger_accounts set frozen_reason = 'of a test' where account_id = $1`, [settler.account.accountId]);
    await refusals(await payment(), 'unexpected_settle_error');
    await query('update ledger_accounts set frozen_reason = null where account_id = $1', [settler.account.accountId]);
  });

  test('by a settler of which the nodes have just refused a settlement of the client', async () => {
    const txId = await accepted(await payment());
    await begin(txId);
    await query(`update transactions set cancellation_reason = 'node_policy' where tx_id = $1`, [txId]);
    expect(await settle(await payment())).toEqual(expect.not.objectContaining({ txId: expect.anything() }));
    expect(await settlementsOf(seller)).toHaveLength(1);
    const other = await buildTenant(fixture);
    await allow(other);
    expect(await settle(await payment(), { Prefer: 'respond-async' }, other)).toMatchObject({ success: true });
  });

  test('to an address that the client has listed', async () => {
    const listed = randomAddress();
    await query(
      `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, added_by)
       values (gen_random_uuid(), $1, 'BLACKLIST', 'base', $2, lower($2), $3)`,
      [seller.clientId, listed, seller.userId],
    );
    const body = await payment({ 'authorization.to': listed, 'terms.payTo': listed });
    await refusals(body, 'invalid_payment_requirements');
  });

  test('when it is not valid', async () => {
    await refusals(change(await payment(), { 'authorization.nonce': `0x${'5'.repeat(64)}` }), 'invalid_exact_evm_signature');
  });
});

describe('after the database was restored', () => {
  const asked = async (body: unknown) => {
    const { status, body: answer } = await fixture.call('POST', '/x402/settle', { tenant: seller, body });
    return { status, answer };
  };

  test('a payment that the chain refuses now is no refused one until the orders are compared: it may have been settled', async () => {
    // somebody has used it up
    const body = await payment({ 'authorization.value': '999' });
    expect(await asked(body)).toMatchObject({ status: 200, answer: { success: false } });
    const [{ definition }] = (await query<{ definition: string }>(
      `select pg_get_functiondef('orders_are_compared'::regproc) as definition`,
    )) as [{ definition: string }];
    await query(`create or replace function orders_are_compared() returns boolean language sql stable as $$ select false $$`);
    try {
      for (const refusedOrGood of [body, await payment()])
        expect(await asked(refusedOrGood)).toMatchObject({ status: 503, answer: { code: 'reconcile_required' } });
    } finally {
      await query(definition);
    }
    expect(await settlementsOf(seller)).toEqual([]);
  });

  test('nothing is accepted where the chain counts more transactions of the only settler than the gateway knows', async () => {
    const { accountId, addressKey } = settler.account;
    const owner = { chain: base.name, accountId, addressKey };
    await recordDoubtedOrdinal(fixture.database.manager, owner, { reported: 3n, expected: 0n });
    expect(await asked(await payment())).toMatchObject({
      status: 503,
      answer: { code: 'reconcile_required', detail: expect.stringContaining('an operator must reconcile them') as string },
    });
    expect(await settlementsOf(seller)).toEqual([]);
    await dropDoubtedOrdinal(fixture.database.manager, owner, 3n);
    await accepted(await payment());
  });
});

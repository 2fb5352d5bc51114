import { concat, type Hex } from 'viem';
import { toPreparedAuthorisation } from '../../../src/chains/evm/authorise/details';
import { getFamily } from '../../../src/chains/families';
import { newId } from '../../../src/platform/ids';
import { presentPayment } from '../../../src/x402/sign/presenter';
import { type AuthorisedPayment, findAuthorised } from '../../../src/x402/sign/stored';
import { StartLimits } from '../../../src/transfers/start/start-limits';
import { buildTotp, buildTransferRequest, randomAddress, signAs, totpCode } from '../../factories';
import { explain } from '../../explained';
import { createTestLedger, roomyStartLimits, type TestLedger } from '../../ledger';
import { auditOf, listAddress, setPolicy, unlist } from '../screening/factors';
import { boxes, buildFunded, createFixture, ethereum, expectProblem, type Fixture, type Funded, registry } from '../http/fixture';
import { prepared } from '../ledger/fixture';

/** POST and GET /x402/sign over HTTP, to the signature; who carries a payment out, and its end: sign-workflow.test.ts. */

const usdc = ethereum.tokens.find(({ symbol }) => symbol === 'USDC');
let fixture: Fixture;
let funded: Funded;
let ledger: TestLedger;
beforeAll(async () => {
  fixture = await createFixture();
  funded = await buildFunded(fixture, fixture.demo);
  ledger = createTestLedger({ database: fixture.database, registry });
});
afterAll(() => fixture.close());

const terms = (changes: object = {}) => ({
  ...{ scheme: 'exact', network: ethereum.caip2, asset: usdc?.contract, amount: '1000000', payTo: randomAddress() },
  ...{ maxTimeoutSeconds: 60, extra: { name: 'USD Coin', version: '2' } },
  ...changes,
});
const post = (changes: object = {}, headers: Record<string, string> = {}, tenant = fixture.demo) =>
  fixture.call('POST', '/x402/sign', {
    body: { x402Version: 2, payer: funded.account.address, paymentRequirements: terms(), ...changes },
    headers: { Prefer: 'respond-async', ...headers },
    tenant,
  });

/** As the workflow has it begun, with times that end in so many seconds; `permitNonce`: of the token's permit that it needs. */
function begin(
  txId: string,
  { seconds = 60, permitNonce = null }: { seconds?: number; permitNonce?: bigint | null } = {},
): ReturnType<TestLedger['beginSigning']> {
  const now = BigInt(Math.floor(Date.now() / 1000));
  const prepared = toPreparedAuthorisation({ validAfter: now - 600n, validBefore: now + BigInt(seconds), permitNonce });
  return ledger.beginSigning({ txId, lastAttempt: 0, kind: 'first', prepared });
}

/** Signed as the workflow has it signed, and handed out. */
async function sign(txId: string): Promise<void> {
  const { database } = fixture;
  const begun = await begin(txId);
  if (begun.outcome !== 'begun') throw new Error(JSON.stringify(begun));
  const signatures = signAs(funded.wallet, funded.account, begun.unsigned);
  await ledger.recordSigned({ txId, attempt: 1, signatures });
  await database.query('update transfer_attempts set broadcast_at = now() where tx_id = $1', [txId]);
  await ledger.markSubmitted({ txId, attempt: 1 });
}

test('what was asked for is repeated to the resource server with the signature', async () => {
  const paymentRequirements = terms({ extra: { name: 'USD Coin', version: '2', hint: 'kept' } });
  const resource = { url: 'https://seller.example/report' };
  const { status, headers, body } = await post({ paymentRequirements, resource, extensions: { bazaar: { info: {} } } });
  const txId = String(body['txId']);
  expect({ status, body }).toMatchObject({ status: 202, body: { status: 'PENDING', paymentPayload: null, header: null } });
  expect(headers.get('location')).toBe(`/api/v1/x402/sign/${txId}`);
  expect(await auditOf(fixture.database, 'payment.accepted', txId)).toHaveLength(1);

  await sign(txId);
  const shown = (await fixture.call('GET', `/x402/sign/${txId}`, { tenant: fixture.demo })).body as unknown as {
    paymentPayload: { payload: { authorization: object } };
    header: { name: string; value: string };
  };
  expect(shown).toMatchObject({
    status: 'SUBMITTED',
    paymentPayload: {
      ...{ x402Version: 2, resource, accepted: paymentRequirements, extensions: { bazaar: { info: {} } } },
      payload: { authorization: { from: funded.account.address, to: paymentRequirements.payTo, value: '1000000' } },
    },
  });
  expect(shown.header.name).toBe('PAYMENT-SIGNATURE');
  expect(JSON.parse(Buffer.from(shown.header.value, 'base64').toString())).toEqual(shown.paymentPayload);
  const signed = await auditOf(fixture.database, 'transfer.signed', txId);
  expect(signed).toEqual([expect.objectContaining({ detail: expect.objectContaining({ tx_hash: null }) })]);

  const explained = await explain({ database: fixture.database }, txId);
  expect(explained).toMatchObject({ transaction: { type: 'X402_SIGN' }, attempts: [{ ids: [], on_record: 'taken by a node' }] });
  expect(explained.state.why).toContainEqual(expect.stringMatching(/^It is abandoned by itself in \d+ s/));
});

test('by times that the worker names it can be open for up to a minute longer than was asked for, and no longer', async () => {
  const txId = String((await post()).body['txId']);
  expect(await begin(txId, { seconds: 60 + 60 + 5 })).toMatchObject({
    outcome: 'refused',
    code: 'intent_mismatch',
    reason: expect.stringContaining('window_end'),
  });
  expect(await begin(txId, { seconds: 60 + 55 })).toMatchObject({ outcome: 'begun' });
});

test('version 1: its own payload and header', async () => {
  const { amount: maxAmountRequired, ...others } = terms({ network: 'ethereum' });
  const { status, body } = await post({ x402Version: 1, paymentRequirements: { ...others, maxAmountRequired } });
  expect(status).toBe(202);
  await sign(String(body['txId']));
  const shown = await fixture.call('GET', `/x402/sign/${String(body['txId'])}`, { tenant: fixture.demo });
  expect(shown.body).toMatchObject({
    paymentPayload: { x402Version: 1, scheme: 'exact', network: 'ethereum' },
    header: { name: 'X-PAYMENT' },
  });
});

test.each<[string, object, string]>([
  [
    'version 1 with a highest amount',
    { x402Version: 1, paymentRequirements: { ...terms({ scheme: 'upto' }), maxAmountRequired: '1' } },
    'scheme',
  ],
  [
    'version 1 by Permit2',
    { x402Version: 1, paymentRequirements: { ...terms({ extra: { assetTransferMethod: 'permit2' } }), maxAmountRequired: '1' } },
    'extra.assetTransferMethod',
  ],
  [
    'an escrow',
    { paymentRequirements: terms({ extra: { name: 'USD Coin', version: '2', paymentFlow: 'escrow' } }) },
    'extra.paymentFlow',
  ],
  ['too short a time', { paymentRequirements: terms({ maxTimeoutSeconds: 9 }) }, 'maxTimeoutSeconds'],
  ['an amount that is no integer', { paymentRequirements: terms({ amount: '1.5' }) }, 'amount'],
  ['no amount', { paymentRequirements: terms({ amount: undefined }) }, 'amount'],
  ['version 1 without its amount', { x402Version: 1, paymentRequirements: terms({ network: 'ethereum' }) }, 'maxAmountRequired'],
])('%s is refused', async (_what, changes, field) => {
  expectProblem(await post(changes), 400, 'invalid_parameter', `paymentRequirements.${field}`);
});

test.each(ethereum.tokens)('a payment to the contract of $symbol is lost, and refused', async ({ symbol, contract }) => {
  const answer = await post({ paymentRequirements: terms({ payTo: contract }) });
  expectProblem(answer, 400, 'invalid_address', 'paymentRequirements.payTo');
  expect(answer.body['detail']).toBe(
    `paymentRequirements.payTo is the contract of ${symbol}: tokens that are sent there are lost`,
  );
});

describe('by the rules of a transfer', () => {
  const refused = async (rule: string, undo: string, answer: [status: number, code: string], payTo = randomAddress()) => {
    const { database } = fixture;
    await database.query(rule, [funded.wallet.walletId]);
    try {
      const { status, body } = await post({ paymentRequirements: terms({ payTo }) });
      expect([status, body['code']]).toEqual(answer);
    } finally {
      await database.query(undo, [funded.wallet.walletId]);
    }
  };
  const unlimited = 'delete from wallet_limits where wallet_id = $1';

  test('a payment above the highest single amount of the wallet is refused', () =>
    refused(`insert into wallet_limits (wallet_id, symbol, max_single) values ($1, 'USDC', 0.5)`, unlimited, [
      400,
      'business_error',
    ]));

  test('so is one above its amount of a day', () =>
    refused(`insert into wallet_limits (wallet_id, symbol, max_daily) values ($1, 'USDC', 0.5)`, unlimited, [
      400,
      'business_error',
    ]));

  test('and one to a blacklisted recipient', async () => {
    const payTo = randomAddress();
    const listed = await listAddress(fixture.database, fixture.demo, payTo);
    const answer = await post({ paymentRequirements: terms({ payTo }) });
    expectProblem(answer, 403, 'address_blacklisted', 'paymentRequirements.payTo');
    expect(answer.body['detail']).toBe('paymentRequirements.payTo is on your blacklist');
    await unlist(fixture.database, listed);
    expect((await post({ paymentRequirements: terms({ payTo }) })).status).toBe(202);
  });

  test('one that is blacklisted before the signing begins: the payment says so in its own terms', async () => {
    const payTo = randomAddress();
    const txId = String((await post({ paymentRequirements: terms({ payTo }) })).body['txId']);
    const listed = await listAddress(fixture.database, fixture.demo, payTo);
    expect(await begin(txId)).toMatchObject({ outcome: 'refused', code: 'address_blacklisted' });
    await ledger.endTransfer({ txId });
    await unlist(fixture.database, listed);
    const { body } = await fixture.call('GET', `/x402/sign/${txId}`, { tenant: fixture.demo });
    const failure = { code: 'address_blacklisted', message: 'paymentRequirements.payTo is on your blacklist' };
    expect(body).toMatchObject({ failure, paymentPayload: null });
  });

  test('and one to a recipient that is not on the whitelist, where only that is allowed', async () => {
    const payTo = randomAddress();
    await setPolicy(fixture.database, fixture.demo, 'only');
    try {
      const asked = { paymentRequirements: terms({ payTo }) };
      expectProblem(await post(asked), 403, 'address_not_whitelisted', 'paymentRequirements.payTo');
      await listAddress(fixture.database, fixture.demo, payTo, { type: 'WHITELIST' });
      expect((await post(asked)).status).toBe(202);
    } finally {
      await setPolicy(fixture.database, fixture.demo, 'off');
    }
  });
});

test('another client’s account pays nothing, and its payment is not shown', async () => {
  expectProblem(await post({}, {}, fixture.other), 404, 'not_found');
  const { body } = await post();
  for (const id of [String(body['txId']), 'x', newId()])
    expectProblem(await fixture.call('GET', `/x402/sign/${id}`, { tenant: fixture.other }), 404, 'not_found');
});

test('it waits for an approval like a transfer, and can be cancelled until its signing begins', async () => {
  await fixture.database.query(`update clients set whitelist_mode = 'approve' where client_id = $1`, [fixture.demo.clientId]);
  try {
    const { body } = await post({}, { Prefer: 'wait=5' });
    expect(body).toMatchObject({ status: 'AWAITING_APPROVAL', paymentPayload: null });
    const code = totpCode(await buildTotp(fixture.database, boxes.totp, fixture.demo));
    const path = `/transactions/${String(body['txId'])}`;
    const approved = await fixture.call('POST', `${path}/approve`, { tenant: fixture.demo, body: { mfa_code: code } });
    expect(approved).toMatchObject({ status: 200, body: { status: 'PENDING', transaction_type: 'X402_SIGN' } });
    const cancelled = await fixture.call('POST', `${path}/cancel`, { tenant: fixture.demo });
    expect(cancelled).toMatchObject({ status: 200, body: { status: 'CANCELLED' } });
  } finally {
    await fixture.database.query(`update clients set whitelist_mode = 'off' where client_id = $1`, [fixture.demo.clientId]);
  }
});

test('under one key it is one payment, also after the stored answer is gone', async () => {
  const [headers, paymentRequirements] = [{ 'Idempotency-Key': newId() }, terms()];
  const first = await post({ paymentRequirements }, headers);
  await fixture.database.query('delete from idempotency_keys');
  const again = await post({ paymentRequirements }, headers);
  expect(again.body['txId']).toBe(first.body['txId']);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  await fixture.database.query('delete from idempotency_keys');
  expectProblem(await post({ paymentRequirements: terms() }, headers), 422, 'idempotency_key_reused');
});

describe('nothing is handed out', () => {
  const unsigned = async (): Promise<AuthorisedPayment> => {
    const { body } = await post();
    await sign(String(body['txId']));
    const payment = await findAuthorised(fixture.database.manager, fixture.demo.clientId, String(body['txId']));
    if (!payment?.signed) throw new Error('not signed');
    return payment;
  };
  const nothing = { paymentPayload: null, header: null, validUntil: null };

  test('after its time', async () => {
    const payment = await unsigned();
    jest.useFakeTimers({ now: Date.now() + 61_000, doNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'performance'] });
    try {
      expect(presentPayment({ registry, getFamily }, payment)).toMatchObject(nothing);
    } finally {
      jest.useRealTimers();
    }
  });

  test('where the resource server’s terms are lost, or the chain is no longer enabled', async () => {
    const payment = await unsigned();
    expect(presentPayment({ registry, getFamily }, { ...payment, requirements: {} })).toMatchObject(nothing);
    expect(presentPayment({ registry, getFamily }, { ...payment, chain: 'gone' })).toMatchObject(nothing);
  });
});

describe('payments by Permit2, which moves what the account has allowed it whichever payment that was for', () => {
  const domain = { name: 'USD Coin', version: '2' };
  const accept = async (changes: object, payer: string) => {
    const extra = { ...domain, assetTransferMethod: 'permit2' };
    const paymentRequirements = terms({ extra, ...changes });
    const { status, body } = await post({ payer, paymentRequirements, extensions: { eip2612GasSponsoring: { info: {} } } });
    expect(status).toBe(202);
    return String(body['txId']);
  };
  let payer: Funded;
  beforeEach(async () => {
    payer = await buildFunded(fixture, fixture.demo);
  });
  const beginOf = async (permitNonce: bigint | null, changes = {}, { account }: Funded = payer) => {
    const txId = await accept(changes, account.address);
    return { txId, begun: await begin(txId, { permitNonce }) };
  };

  test.each<[string, bigint | null, bigint | null]>([
    ['the same permit', 3n, 3n],
    ['the next permit, after somebody has used the first one', 3n, 4n],
    ['no permit, while that of the other one would replace the allowance', 3n, null],
    ['a permit, which would replace the allowance of the other one', null, 0n],
    ['the same allowance', null, null],
  ])('one of an account and token is open at a time: not another one with %s', async (_what, permit, nextPermit) => {
    const { txId, begun } = await beginOf(permit);
    if (begun.outcome !== 'begun') throw new Error(JSON.stringify(begun));
    const signatures = signAs(payer.wallet, payer.account, begun.unsigned);
    expect(signatures).toHaveLength(permit === null ? 1 : 2);
    await ledger.recordSigned({ txId, attempt: 1, signatures });
    const [attempt] = await fixture.database.query<{ signed: Hex }[]>('select signed from transfer_attempts where tx_id = $1', [
      txId,
    ]);
    expect(attempt?.signed).toHaveLength(concat(signatures).length);
    const second = await beginOf(nextPermit);
    const refused = { outcome: 'refused', code: 'business_error', reason: expect.stringContaining(txId) };
    expect(second.begun).toMatchObject(refused);
    expect(await ledger.endTransfer({ txId: second.txId })).toMatchObject({ status: 'FAILED', code: 'business_error' });
    // once the first one has ended, another one can rely on it
    await provenImpossible(txId);
    expect((await beginOf(nextPermit)).begun).toMatchObject({ outcome: 'begun' });
  });

  test('other accounts are not concerned, nor what the token itself authorises', async () => {
    const other = await buildFunded(fixture, fixture.demo);
    expect((await beginOf(null)).begun).toMatchObject({ outcome: 'begun' });
    expect((await beginOf(null, { extra: domain })).begun).toMatchObject({ outcome: 'begun' });
    expect((await beginOf(null, {}, other)).begun).toMatchObject({ outcome: 'begun' });
  });

  test('of two at the same time one begins', async () => {
    const ids = [await accept({}, payer.account.address), await accept({}, payer.account.address)];
    const begun = await Promise.all(ids.map((txId) => begin(txId)));
    expect(begun.map(({ outcome }) => outcome).sort()).toEqual(['begun', 'refused']);
  });

  async function provenImpossible(txId: string): Promise<void> {
    await fixture.database.query(`update transfer_attempts set impossible_proof = '{}' where tx_id = $1`, [txId]);
    expect(await ledger.failByProof({ txId })).toMatchObject({ status: 'FAILED', code: 'expired' });
  }
});

test('a transfer of the account that waits for an operator keeps no authorisation waiting, which has no nonce of the account', async () => {
  const { database } = fixture;
  const own = await buildFunded(fixture, fixture.demo);
  const transfer = () => ledger.lockTransfer(buildTransferRequest(own.account, ethereum, { tokenSymbol: 'USDC', amount: '1' }));
  const [{ txId: parked }, { txId: behind }] = [await transfer(), await transfer()];
  await ledger.beginAttempt({ txId: parked, attempt: 1, kind: 'first', prepared: prepared() });
  await ledger.parkTransfer({ txId: parked, code: 'stuck', reason: 'fees are beyond the bound' });
  const txId = String((await post({ payer: own.account.address })).body['txId']);

  const starts = new StartLimits(roomyStartLimits, () => Promise.resolve(new Map()));
  const waits = (type: string) =>
    starts.isBehindParked(database.manager, { account_id: own.account.accountId, chain: 'ethereum', transaction_type: type });
  expect([await waits('OUTBOUND'), await waits('X402_SIGN')]).toEqual([true, false]);
  expect([await ledger.readTurn({ txId: behind }), await ledger.readTurn({ txId })]).toEqual([
    { outcome: 'behind' },
    { outcome: 'free' },
  ]);
  expect(await begin(txId)).toMatchObject({ outcome: 'begun' });
});

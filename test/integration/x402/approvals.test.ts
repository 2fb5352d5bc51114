import { type Address, concat, type Hex, type PrivateKeyAccount } from 'viem';
import { mintToken, sendNative } from '../../../dev/chain';
import { EvmPaymentClient } from '../../../src/chains/evm/payments/client';
import { exactProxyAddress } from '../../../src/chains/evm/payments/contracts';
import { Endpoints } from '../../../src/chains/evm/rpc';
import type { JsonObject } from '../../../src/chains/types';
import { newId } from '../../../src/platform/ids';
import { type CountStarts, StartLimits } from '../../../src/transfers/start/start-limits';
import { countSponsored } from '../../../src/x402/settlement/send-approval';
import { fundAccount, setFeeLevels } from '../../factories';
import { roomyStartLimits } from '../../ledger';
import { approvalInfo, extended, permitInfo, type SignedApproval } from '../../sponsoring';
import { type Kind, signed } from '../../x402';
import { change } from '../../unit/x402/bodies';
import { account, type Payers, startPayers } from '../dev/payers';
import { buildTenant, createFixture, type Fixture, registry, type Tenant } from '../http/fixture';
import { buildSettler } from './settlement-fixture';

/** Payers without an allowance for Permit2: what is sent for whom, on a chain and with no workflow running. */

jest.setTimeout(120_000);

const base = registry.get('base');
const coins = 10n ** 18n;
/** Of an approval as official clients sign it. */
const maxCost = 70_000n * 3_000_000_000n;
let payers: Payers;
let fixture: Fixture;
let seller: Tenant;
let settler: Address;
let payer: PrivateKeyAccount;
let made = 0;

beforeAll(async () => {
  payers = await startPayers();
  const payments = new Map([[base.name, new EvmPaymentClient(base, new Endpoints(base, [payers.anvil.rpc]))]]);
  fixture = await createFixture({ payments, settleWaitMs: { 1: 400, 2: 200, longest: 2_000 } });
  const built = await buildSettler(fixture.database, base);
  await query('update settlers set is_primary = true where settler_id = $1', [built.settler.settlerId]);
  await fundAccount(fixture.database, built.account, base, 'ETH', coins);
  await setFeeLevels(fixture.database, base);
  settler = built.account.address as Address;
});
beforeEach(async () => {
  seller = await buildTenant(fixture);
  payer = await newPayer();
});
afterAll(async () => {
  await fixture?.close();
  await payers?.anvil.stop();
});

const query = <T>(sql: string, values: unknown[] = []): Promise<T[]> => fixture.database.query<T[]>(sql, values);

interface Allowed {
  permit?: boolean;
  approval?: boolean;
  topUpPerDay?: bigint;
}
const allow = ({ permit = false, approval = false, topUpPerDay = coins }: Allowed, { clientId }: Tenant = seller) =>
  query(
    `insert into x402_policies (client_id, chain, is_enabled, sponsors_permit, sponsors_approval, top_up_per_day)
     values ($1, 'base', true, $2, $3, $4)`,
    [clientId, permit, approval, topUpPerDay.toString()],
  );

/** Has 1,000,000 atomic units of USDC, and nothing else. */
async function newPayer(): Promise<PrivateKeyAccount> {
  const created = account(`payer of approvals ${(made += 1)}`);
  await mintToken(payers.anvil.chain, payers.usdc, created.address, 1_000_000n);
  return created;
}

const payment = (kind: Kind = 'permit2') => signed({ kind, payer, facilitator: settler });
async function approved(changes: Partial<SignedApproval> = {}, body?: JsonObject): Promise<JsonObject> {
  const info = await approvalInfo({ payer, token: payers.usdc, ...changes });
  return extended(body ?? (await payment()), 'erc20ApprovalGasSponsoring', info);
}
const call = async (path: 'verify' | 'settle', body: unknown, tenant: Tenant = seller) => {
  const headers: Record<string, string> = path === 'settle' ? { Prefer: 'respond-async' } : {};
  const { status, body: answer } = await fixture.call('POST', `/x402/${path}`, { tenant, body, headers });
  expect(status).toBe(200);
  return answer as JsonObject;
};
/** Both answer alike: 'valid', or the reason. */
async function judged(body: unknown): Promise<unknown> {
  const { invalidReason } = await call('verify', body);
  if (invalidReason !== null) expect(await call('settle', body)).toMatchObject({ success: false, errorReason: invalidReason });
  return invalidReason ?? 'valid';
}
const approvals = () =>
  query<{ top_up: string; nonce: string; tx_hash: string }>(
    'select top_up, nonce, tx_hash from x402_approvals where client_id = $1',
    [seller.clientId],
  );
const sponsoringOf = async (txId: unknown) =>
  (await query<{ sponsoring: string }>('select sponsoring from x402_settlements where tx_id = $1', [txId]))[0]?.sponsoring;

describe('a permit of the token', () => {
  const permitted = async (value = 1_000n) =>
    extended(await payment(), 'eip2612GasSponsoring', await permitInfo({ payer, token: payers.usdc, amount: value }));

  test('is executed with the payment, for clients that the house pays it for', async () => {
    await allow({ permit: true });
    expect(await judged(await payment())).toBe('permit2_allowance_required');
    const body = await permitted();
    expect(await judged(body)).toBe('valid');
    const { txId } = await call('settle', body);
    expect(await sponsoringOf(txId)).toBe('eip2612');
  });

  test('means nothing for others', async () => {
    await allow({});
    expect(await judged(await permitted())).toBe('permit2_allowance_required');
  });

  test('is good for the amount of the payment alone', async () => {
    await allow({ permit: true });
    expect(await judged(await permitted(999n))).toBe('permit2_2612_amount_mismatch');
  });

  test('goes before an approval', async () => {
    await allow({ permit: true, approval: true });
    const { info } = ((await permitted()) as { paymentPayload: { extensions: Record<string, { info: JsonObject }> } })
      .paymentPayload.extensions.eip2612GasSponsoring as { info: JsonObject };
    const both = change(await approved(), { 'paymentPayload.extensions.eip2612GasSponsoring': { info: info as never } });
    const { txId } = await call('settle', both);
    expect(await sponsoringOf(txId)).toBe('eip2612');
    expect(await approvals()).toEqual([]);
  });
});

describe('a signed approval', () => {
  test.each<Kind>(['permit2', 'upto'])('%s: is accepted with what the payer lacks for it', async (kind) => {
    await allow({ approval: true });
    const body = await approved({}, await payment(kind));
    expect(await judged(body)).toBe('valid');
    const { txId, success } = await call('settle', body);
    expect(success).toBe(true);
    expect(await sponsoringOf(txId)).toBe('erc20_approval');
    expect(await approvals()).toMatchObject([{ top_up: maxCost.toString(), nonce: '0' }]);
    // no workflow runs: what may have been given is not taken back
    expect((await fixture.call('POST', '/x402/settle', { tenant: seller, body })).body).toMatchObject({
      ...{ success: false, errorReason: 'settlement_pending', txId },
    });
  });

  test('costs nothing where the payer has the coins, and less where it has some', async () => {
    await allow({ approval: true });
    await sendNative(payers.anvil.chain, payer.address, maxCost - 5n);
    await call('settle', await approved());
    expect(await approvals()).toMatchObject([{ top_up: '5' }]);
    payer = await newPayer();
    await sendNative(payers.anvil.chain, payer.address, maxCost);
    await call('settle', await approved());
    expect((await approvals()).map(({ top_up: topUp }) => topUp).sort()).toEqual(['0', '5']);
  });

  test('is not sent where the allowance is there', async () => {
    await allow({ approval: true });
    const { address } = payers.payer;
    payer = payers.payer;
    const nonce = await payers.anvil.chain.getTransactionCount({ address });
    const { txId } = await call('settle', await approved({ nonce }));
    expect(await sponsoringOf(txId)).toBe('none');
    expect(await approvals()).toEqual([]);
  });

  test('is not sent for a settlement of nothing', async () => {
    await allow({ approval: true });
    const body = await approved({}, await payment('upto'));
    const { txId } = await call('settle', change(body, { 'required.amount': '0' }));
    expect(await sponsoringOf(txId)).toBe('none');
    expect(await approvals()).toEqual([]);
  });

  test('means nothing for clients that the house does not pay it for', async () => {
    await allow({ permit: true });
    expect(await judged(await approved())).toBe('permit2_allowance_required');
  });

  test('takes no room of running transfers while its settlement waits for it', async () => {
    await allow({ approval: true });
    const { txId } = await call('settle', await approved());
    await fixture.resources.outbox.settled();
    await query('delete from workflow_outbox where subject_id = $1', [txId]);
    const [started] = await query<{ count: number }>(
      `select count(*)::int from transactions t where chain = 'base' and is_signed and ended_at is null
          and not exists (select from workflow_outbox o where o.subject_id = t.tx_id)`,
    );
    const isRoomWith = (countIdle: CountStarts) =>
      new StartLimits({ ...roomyStartLimits, maxInFlight: started?.count ?? 0 }, countIdle).take(
        fixture.database.manager,
        'base',
        seller.clientId,
      );
    expect(await isRoomWith(() => Promise.resolve(new Map()))).toBe('for_idle_clients');
    expect(await isRoomWith(countSponsored)).toBe('taken');

    // nor the place that clients get who have nothing in flight
    const { manager } = fixture.database;
    const running = (started?.count ?? 0) - ((await countSponsored(manager)).get('base') ?? 0);
    const full = new StartLimits({ ...roomyStartLimits, maxInFlight: running + 1 }, countSponsored);
    expect(await full.take(manager, 'base', newId())).toBe('taken');
    expect(await full.take(manager, 'base', seller.clientId)).toBe('taken');
    expect(await full.take(manager, 'base', seller.clientId)).not.toBe('taken');
  });

  test.each<[string, string, Partial<SignedApproval>]>([
    ['with a later nonce', 'erc20_approval_tx_parse_failed', { nonce: 1 }],
    ['below the base fee', 'erc20_approval_tx_parse_failed', { maxFeePerGas: 1_000_000n }],
    ['far above the base fee', 'erc20_approval_tx_parse_failed', { maxFeePerGas: 10n ** 11n }],
    ['above the highest fee of the chain', 'erc20_approval_tx_parse_failed', { maxFeePerGas: base.maxNetworkFee / 70_000n + 1n }],
    ['with too little gas to begin', 'permit2_simulation_failed', { gas: 22_000n }],
    ['with too little gas', 'permit2_simulation_failed', { gas: 30_000n }],
    ['over less', 'erc20_approval_tx_invalid_calldata', { amount: 999n }],
    ['of another chain', 'erc20_approval_tx_parse_failed', { chainId: 1 }],
  ])('%s is refused: %s', async (_what, reason, changes) => {
    await allow({ approval: true });
    expect(await judged(await approved(changes))).toBe(reason);
    expect(await approvals()).toEqual([]);
  });

  test('with a nonce that is used, or that another transaction in the pool has', async () => {
    await allow({ approval: true });
    await sendNative(payers.anvil.chain, payer.address, coins);
    const { chain } = payers.anvil;
    await payers.send(payer.address, '0x', payer);
    expect(await judged(await approved())).toBe('erc20_approval_tx_parse_failed');
    expect(await judged(await approved({ nonce: 1 }))).toBe('valid');
    const waiting = await payer.signTransaction({
      ...{ type: 'eip1559', chainId: 8453, nonce: 2, to: payer.address, gas: 21_000n, maxFeePerGas: 10n ** 10n },
    });
    await chain.sendRawTransaction({ serializedTransaction: waiting }).catch(() => undefined);
    expect(await judged(await approved({ nonce: 2 }))).toBe('erc20_approval_tx_parse_failed');
  });

  test('of an account with code is refused', async () => {
    await allow({ approval: true });
    await payers.anvil.chain.setCode({ address: payer.address, bytecode: concat(['0xef0100', payers.wallet]) });
    expect(await judged(await approved())).toBe('permit2_allowance_required');
    expect(await approvals()).toEqual([]);
  });

  test('does not help a payment that fails for something else', async () => {
    await allow({ approval: true });
    const body = await approved(
      {},
      await signed({ kind: 'permit2', payer, changes: { 'permitted.amount': '2000000', 'terms.amount': '2000000' } }),
    );
    expect(await judged(body)).toBe('permit2_insufficient_balance');
    const code = (await payers.anvil.chain.getCode({ address: exactProxyAddress })) as Hex;
    // as a proxy that fails after the transfer
    await payers.anvil.chain.setCode({ address: exactProxyAddress, bytecode: '0xfe' });
    expect(await judged(await approved())).toBe('permit2_simulation_failed');
    await payers.anvil.chain.setCode({ address: exactProxyAddress, bytecode: code });
  });
});

describe('what is given has limits', () => {
  test('one approval of a payer in a day, whoever asks', async () => {
    await allow({ approval: true });
    await call('settle', await approved());
    expect(await judged(await approved())).toBe('permit2_allowance_required');
    const other = await buildTenant(fixture);
    await allow({ approval: true }, other);
    expect(await call('verify', await approved(), other)).toMatchObject({ invalidReason: 'permit2_allowance_required' });
  });

  test('of two requests at the same time for one payer one is accepted', async () => {
    const other = await buildTenant(fixture);
    await allow({ approval: true });
    await allow({ approval: true }, other);
    const bodies = [await approved(), await approved()];
    const answers = await Promise.all(bodies.map((body, index) => call('settle', body, index === 0 ? seller : other)));
    expect(answers.filter(({ success }) => success)).toHaveLength(1);
    expect(answers.find(({ success }) => !success)).toMatchObject({ errorReason: 'permit2_allowance_required', transaction: '' });
  });

  test('for a client in 24 hours, also of requests at the same time', async () => {
    await allow({ approval: true, topUpPerDay: 2n * maxCost + 1n });
    const bodies: JsonObject[] = [];
    for (let index = 0; index < 4; index += 1) {
      payer = await newPayer();
      bodies.push(await approved());
    }
    const answers = await Promise.all(bodies.map((body) => call('settle', body)));
    expect(answers.filter(({ success }) => success)).toHaveLength(2);
    expect(await approvals()).toHaveLength(2);
    // who lacks nothing gets nothing
    payer = await newPayer();
    await sendNative(payers.anvil.chain, payer.address, maxCost);
    expect(await judged(await approved())).toBe('valid');
  });

  test('its fee is one of those that the house pays for the client', async () => {
    await allow({ approval: true });
    const { txId } = await call('settle', await signed({ kind: 'permit2', payer: payers.payer }));
    const [alone] = await query<{ gas_bound: string }>('select gas_bound from x402_settlements where tx_id = $1', [txId]);
    seller = await buildTenant(fixture);
    await allow({ approval: true });
    await query('update x402_policies set gas_per_day = $2 where client_id = $1', [seller.clientId, alone?.gas_bound]);
    expect(await call('settle', await approved())).toMatchObject({ success: false, errorReason: 'unexpected_settle_error' });
    await sendNative(payers.anvil.chain, payer.address, maxCost);
    expect(await call('settle', await approved())).toMatchObject({ success: true });
  });

  test('none by default', async () => {
    await allow({ approval: true, topUpPerDay: 0n });
    expect(await judged(await approved())).toBe('permit2_allowance_required');
  });
});

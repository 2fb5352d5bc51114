import { createPublicKey } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { listAuditLog } from '../../../src/audit/list';
import { toPreparedAuthorisation } from '../../../src/chains/evm/authorise/details';
import { uptoProxyAddress } from '../../../src/chains/evm/payments/contracts';
import { getFamily } from '../../../src/chains/families';
import type { PaymentRequest } from '../../../src/chains/payments';
import type { Hex } from '../../../src/chains/types';
import { acceptCount } from '../../../src/cli/accept-count';
import type { Reconciliation, ReconcileOptions } from '../../../src/cli/reconcile-operations';
import { verifyLedger } from '../../../src/ledger/verify';
import type { ClaimsOf, OrderClaims } from '../../../src/messages/order';
import { OrderKeys } from '../../../src/mpc/order-keys';
import type { SeenOrder } from '../../../src/mpc/seen-orders';
import { areOrdersCompared } from '../../../src/orders/reconcile-required';
import { ConfigError } from '../../../src/platform/config';
import { GatewayError } from '../../../src/platform/errors';
import { houseClientId } from '../../../src/platform/house';
import { newId } from '../../../src/platform/ids';
import { formatAmount } from '../../../src/platform/money';
import { acceptTransfer } from '../../../src/transfers/accept/accept';
import { recordAbandonRequest } from '../../../src/transfers/operate/operator-requests';
import type { TransferRequest } from '../../../src/transfers/accept/request';
import { findClaimed, type PaymentKey, toPaymentKey } from '../../../src/x402/settlement/claimed';
import { acceptPayment } from '../../../src/x402/sign/accept';
import { parsePayment } from '../../../src/x402/sign/request';
import { fundAccount, randomAddress, signAs } from '../../factories';
import { acceptDependencies, createTestLedger, type TestLedger } from '../../ledger';
import { claimsOf, forgeOrder, orderHead, orderKeys, signOrder } from '../../orders';
import {
  balances,
  begin,
  begun,
  codeOf,
  ether,
  ethereum,
  type Fixture,
  include,
  prepared,
  registry,
  usdc,
} from '../ledger/fixture';
import { allowSettling, buildSettler, claim, type Claim, claimBy } from '../x402/settlement-fixture';
import { type Backup, backUp } from './backup';
import { useFundedFixture } from './fixture';
import { reconcileShown } from './reconciling';
import { newKeyPair } from '../../keys';

type SettlementClaims = ClaimsOf<'settlement'>;

/** A backup of the database, transfers after it, and the backup restored: what the nodes have seen is rebuilt. Their answers are given. */

jest.setTimeout(120_000);

let fixture: Fixture;
const { request } = useFundedFixture((it) => (fixture = it));
/** The restored backup. */
let restored: DataSource;
let ledger: TestLedger;
/** What nodes 1 and 2 show; node 3 is down. */
let seen: SeenOrder[];
let backup: Backup;
/** Transfers whose workflow was started. */
let started: string[];
/** Final transactions of every address on the chain. */
let used: bigint;

const makeBackup = async (): Promise<void> => {
  backup = await backUp(fixture.database);
};

async function restore(): Promise<void> {
  restored = await backup.restore();
  ledger = createTestLedger({ database: restored, registry, log: { error: () => undefined, warn: () => undefined } });
}

beforeEach(() => {
  [seen, started] = [[], []];
  used = 0n;
});
afterEach(async () => {
  expect(await verifyLedger(restored.manager)).toEqual([]);
  await restored.destroy();
  await backup.drop();
});

const countUsed = () => Promise.resolve(used);

const run = (options: Partial<ReconcileOptions> = {}): Promise<Reconciliation> =>
  reconcileShown(restored, seen, { start: ({ txId }) => Promise.resolve(started.push(txId)), countUsed, ...options });

/** Accepts and orders it, so that nodes have seen its order. */
async function ordered(transfer: TransferRequest): Promise<{ txId: string; unsigned: Hex }> {
  const { txId } = await fixture.ledger.lockTransfer(transfer);
  const { unsigned, order } = await begun(fixture, { txId });
  seen.push({ compact: order, unsigned });
  return { txId, unsigned };
}

const accept = (transfer: TransferRequest) => acceptTransfer(acceptDependencies(restored, registry), transfer);
const count = async (table: string) =>
  Number((await restored.query<[{ count: string }]>(`select count(*) from ${table}`))[0].count);
const balance = async (database: DataSource, symbol: string) =>
  database.query<object[]>('select available, locked from ledger_accounts where account_id = $1 and symbol = $2', [
    fixture.account.accountId,
    symbol,
  ]);

test('a transfer that was ordered after the backup comes back with its key: the same request gets it and does not pay again', async () => {
  await makeBackup();
  const transfer = request({ idempotencyKey: newId(), memo: 'lost' });
  const { txId, unsigned } = await ordered(transfer);
  await restore();

  expect(await run()).toMatchObject({ rows: [{ subject: txId, result: 'rebuilt', orders: 1 }], isOpen: false });
  expect([await count('orders'), await count('rebuilt_requests')]).toEqual([0, 0]);

  expect(await run({ apply: true })).toMatchObject({
    rows: [{ subject: txId, result: 'rebuilt' }],
    started: [txId],
    isOpen: true,
  });
  expect(await accept({ ...transfer, txId: newId() })).toMatchObject({ txId, status: 'SIGNING', replayed: true });
  expect(await codeOf(accept({ ...transfer, txId: newId(), amount: '11' }))).toBe('idempotency_key_reused');
  expect(await balance(restored, 'USDC')).toEqual(await balance(fixture.database, 'USDC'));

  // the same bytes, signed and settled as ever; the next transfer gets the next nonce and a higher number
  const again = await ledger.beginSigning({ txId, lastAttempt: 1, kind: 'resume' });
  expect(again).toMatchObject({ outcome: 'begun', unsigned });
  await ledger.recordSigned({ txId, attempt: 1, signatures: signAs(fixture.wallet, fixture.account, unsigned) });
  await ledger.markSubmitted({ txId, attempt: 1 });
  const copy = { ...fixture, database: restored, ledger };
  await include(copy, txId, 1, { fee: 1_000n, debited: 10n * usdc });
  expect((await ledger.settleTransfer({ txId })).status).toBe('CONFIRMED');
  expect(await balances(copy, 'USDC')).toEqual([990n * usdc, 0n]);
  expect(await balances(copy, 'ETH')).toEqual([10n * ether - 1_000n, 0n]);
  const later = (await ledger.lockTransfer(request({ idempotencyKey: newId() }))).txId;
  const next = await begun(copy, { txId: later });
  expect(getFamily('evm').describe(next.unsigned).resources).toEqual(['1']);
  expect(claimsOf(next.order).seq).toBeGreaterThan(claimsOf(seen[0]?.compact as string).seq);

  expect(await run({ apply: true })).toMatchObject({ rows: [], isOpen: true });
  const log = await listAuditLog(restored.manager, { subject: txId, limit: 10 });
  expect(log).toContainEqual(expect.objectContaining({ action: 'orders.rebuilt' }));
});

test.each([300, 3_600])(
  'a payment of %d s that was authorised after the backup comes back with what its bytes say, and is held',
  async (seconds) => {
    await makeBackup();
    const [txId, token] = [newId(), ethereum.tokens.find(({ symbol }) => symbol === 'USDC')?.contract as string];
    const { clientId, address: payer } = fixture.account;
    const asked = { txId, clientId, userId: newId(), requestId: newId(), idempotencyKey: newId() };
    const paymentRequirements = {
      ...{ scheme: 'exact', network: ethereum.caip2, asset: token, amount: '7000000', payTo: randomAddress() },
      ...{ maxTimeoutSeconds: seconds, extra: { name: 'USD Coin', version: '2' } },
    };
    const payment = parsePayment({ registry, getFamily }, asked, { x402Version: 2, payer, paymentRequirements });
    await acceptPayment(acceptDependencies(fixture.database, registry), payment);
    const now = BigInt(Math.floor(Date.now() / 1000));
    const prepared = toPreparedAuthorisation({
      validAfter: now - 600n,
      validBefore: now + BigInt(seconds),
      permitNonce: null,
    });
    const signed = await fixture.ledger.beginSigning({ txId, lastAttempt: 0, kind: 'first', prepared });
    if (signed.outcome !== 'begun') throw new Error(JSON.stringify(signed));
    seen.push({ compact: signed.order, unsigned: signed.unsigned });
    await restore();

    expect(await run({ apply: true })).toMatchObject({
      rows: [{ subject: txId, result: 'rebuilt' }],
      started: [txId],
      isOpen: true,
    });
    const [row] = await restored.query<object[]>('select transaction_type, status, amount from transactions where tx_id = $1', [
      txId,
    ]);
    expect(row).toEqual({ transaction_type: 'X402_SIGN', status: 'SIGNING', amount: '7000000' });
    expect(await balance(restored, 'USDC')).toEqual(await balance(fixture.database, 'USDC'));
    const [stored] = await restored.query<object[]>(
      `select (action ->> 'seconds')::int as seconds from x402_authorisations where tx_id = $1`,
      [txId],
    );
    expect(stored).toEqual({ seconds });
    // the same bytes, and nothing else under its key
    const again = await ledger.beginSigning({ txId, lastAttempt: 1, kind: 'resume' });
    expect(again).toMatchObject({ outcome: 'begun', unsigned: signed.unsigned });
    expect(await codeOf(accept(request({ idempotencyKey: asked.idempotencyKey })))).toBe('idempotency_key_reused');
    const { parsed, ...rest } = payment;
    const repeated = { ...rest, parsed: { ...parsed, request: { ...parsed.request, txId: newId() } } };
    expect(await acceptPayment(acceptDependencies(restored, registry), repeated)).toMatchObject({ txId, replayed: true });
  },
);

test('a transfer of the backup whose signing began after it goes on from its attempts, replacements included', async () => {
  const { txId } = await fixture.ledger.lockTransfer(request({ idempotencyKey: newId() }));
  await makeBackup();
  const first = await begun(fixture, { txId });
  seen.push({ compact: first.order, unsigned: first.unsigned });
  await fixture.ledger.recordSigned({ txId, attempt: 1, signatures: signAs(fixture.wallet, fixture.account, first.unsigned) });
  const second = await begun(fixture, { txId, attempt: 2, fees: { maxFeePerGas: 2_300_000_000n } });
  seen.push({ compact: second.order, unsigned: second.unsigned });
  await restore();

  expect(await run({ apply: true })).toMatchObject({ rows: [{ subject: txId, result: 'rebuilt', orders: 2 }], isOpen: true });
  expect(await ledger.beginSigning({ txId, lastAttempt: 2, kind: 'resume' })).toMatchObject({
    outcome: 'begun',
    kind: 'replacement',
    unsigned: second.unsigned,
  });
  const [row] = await restored.query<object[]>('select status, version from transactions where tx_id = $1', [txId]);
  expect(row).toMatchObject({ status: 'SIGNING', version: 1 });
});

test('a cancellation whose reason is lost goes on: the operator who rebuilds it takes its place', async () => {
  const { txId } = await ordered(request({ idempotencyKey: newId() }));
  await makeBackup();
  await recordAbandonRequest(fixture.database.manager, { txId, attempt: 1, operator: 'somebody' });
  const fees = { gasLimit: 21_000n, maxFeePerGas: 4_000_000_000n };
  const { unsigned, order } = await begun(fixture, { txId, attempt: 2, kind: 'cancellation', fees });
  seen.push({ compact: order, unsigned });
  await restore();
  expect(await run({ apply: true })).toMatchObject({ rows: [{ subject: txId, result: 'rebuilt' }], isOpen: true });
  expect(await restored.query('select kind, attempt, operator from operator_requests')).toEqual([
    { kind: 'abandon', attempt: 1, operator: 'reconcile' },
  ]);
  const again = await ledger.beginSigning({ txId, lastAttempt: 2, kind: 'resume' });
  expect(again).toMatchObject({ outcome: 'begun', kind: 'cancellation', unsigned });
});

test('a payment of all the coins there are comes back with its cancellation, which their amount pays for', async () => {
  const { database, ledger: lost } = fixture;
  await makeBackup();
  const bound = (await lost.lockTransfer(request({ idempotencyKey: newId(), tokenSymbol: 'ETH', amount: '1' }))).txId;
  const [{ fee_locked: fee }] = await database.query<[{ fee_locked: string }]>(
    'select fee_locked from transactions where tx_id = $1',
    [bound],
  );
  await lost.cancelTransfer({ txId: bound });
  const whole = { idempotencyKey: newId(), tokenSymbol: 'ETH', amount: formatAmount(10n * ether - BigInt(fee), 18) };
  const { txId } = await lost.lockTransfer(request(whole));
  const first = await begun(fixture, { txId, fees: { gasLimit: 21_000n } });
  await recordAbandonRequest(database.manager, { txId, attempt: 1, operator: 'somebody' });
  const fees = { gasLimit: 21_000n, maxFeePerGas: (2n * BigInt(fee)) / 21_000n };
  const second = await begun(fixture, { txId, attempt: 2, kind: 'cancellation', fees });
  for (const { order, unsigned } of [first, second]) seen.push({ compact: order, unsigned });
  await restore();
  expect(await run({ apply: true })).toMatchObject({ rows: [{ subject: txId, result: 'rebuilt' }], isOpen: true });
  const again = await ledger.beginSigning({ txId, lastAttempt: 2, kind: 'resume' });
  expect(again).toMatchObject({ outcome: 'begun', kind: 'cancellation', unsigned: second.unsigned });
});

test('what cannot be rebuilt keeps the gateway closed, until an operator accepts that on record', async () => {
  await makeBackup();
  const { txId } = await ordered(request());
  await restore();
  const walletId = newId();
  const head = orderHead({ seq: 900 });
  const bound = { ...head, kind: 'bind_key', key_id: `${walletId}.1`, wallet_id: walletId, client_id: fixture.client.clientId };
  seen.push({ compact: await signOrder(bound as OrderClaims), unsigned: null });
  await restored.query(
    `update order_comparison set missing_since = now(), missing_after = 0, missing_order = 900, missing_node = 1`,
  );

  const result = await run({ apply: true });
  expect(result).toMatchObject({
    rows: [
      { subject: txId, result: 'rebuilt' },
      { subject: `${walletId}.1`, result: 'not rebuilt', reason: expect.stringContaining(walletId) },
    ],
    isOpen: false,
  });
  const isClosed = async () =>
    (await restored.query<[{ closed: boolean }]>('select missing_since is not null as closed from order_comparison'))[0].closed;
  expect(await isClosed()).toBe(true);

  expect(await run({ apply: true, acceptMissing: 'stuck', statedReason: 'the wallet is known to be gone' })).toMatchObject({
    rows: [{ subject: `${walletId}.1`, result: 'accepted as missing' }],
    isOpen: true,
  });
  expect([await isClosed(), await areOrdersCompared(restored)]).toEqual([false, true]);
  const log = await listAuditLog(restored.manager, { subject: `${walletId}.1`, limit: 10 });
  const detail = expect.objectContaining({ stated_reason: 'the wallet is known to be gone' });
  expect(log).toContainEqual(expect.objectContaining({ action: 'orders.accepted_as_missing', detail }));
  const opened = await listAuditLog(restored.manager, { action: 'orders.reconciled', limit: 1 });
  expect(opened).toMatchObject([{ detail }]);
});

test('bytes that are not those of the order are not believed, whoever shows them', async () => {
  await makeBackup();
  const [first, second] = [await ordered(request()), await ordered(request())];
  await restore();
  seen[0] = { compact: seen[0]?.compact as string, unsigned: second.unsigned };
  expect(await run({ apply: true })).toMatchObject({
    rows: [
      { subject: first.txId, result: 'not rebuilt', reason: 'no node shows the bytes of attempt 1' },
      { subject: second.txId, result: 'rebuilt' },
    ],
    isOpen: false,
  });
});

test('an account that does not hold the amount yet is not rebuilt: its deposits come back first', async () => {
  await makeBackup();
  const { txId } = await ordered(request({ amount: '600' }));
  await restore();
  const rival = (await ledger.lockTransfer(request({ amount: '700' }))).txId;
  expect(await run({ apply: true })).toMatchObject({
    rows: [{ subject: txId, result: 'not rebuilt', reason: expect.stringContaining('deposits') }],
    isOpen: false,
  });
  await ledger.cancelTransfer({ txId: rival });
  expect(await run({ apply: true })).toMatchObject({ rows: [{ subject: txId, result: 'rebuilt' }], isOpen: true });
});

test.each<[string, () => Promise<unknown>]>([
  ['funds', () => ledger.lockTransfer(request({ amount: '700' }))],
  ['an operator', () => restored.query(`update ledger_accounts set frozen_reason = 'test' where symbol = 'USDC'`)],
])('a transfer that waits for %s is not given up with what cannot be rebuilt, but only by its own id', async (_, hinder) => {
  await makeBackup();
  const { txId } = await ordered(request({ amount: '600' }));
  const lost = newId();
  const bound = { ...orderHead({ seq: 900 }), kind: 'bind_key', key_id: `${lost}.1`, wallet_id: lost };
  seen.push({ compact: await signOrder({ ...bound, client_id: fixture.client.clientId } as OrderClaims), unsigned: null });
  await restore();
  await hinder();
  expect(await run({ apply: true, acceptMissing: 'stuck' })).toMatchObject({
    rows: [
      { subject: txId, result: 'not rebuilt' },
      { subject: `${lost}.1`, result: 'accepted as missing' },
    ],
    isOpen: false,
  });
  expect(await run({ apply: true, acceptMissing: [newId()] })).toMatchObject({ isOpen: false });
  expect(await run({ apply: true, acceptMissing: [txId] })).toMatchObject({
    rows: [{ subject: txId, result: 'accepted as missing' }],
    isOpen: true,
  });
});

/** A transfer that waits, and is asked about again: no other one is accepted meanwhile. */
let waiting: string | undefined;
beforeEach(() => (waiting = undefined));

/** What the next transfer of the account uses up, while the chain reports so many of its transactions. */
async function nextNonce(minedNonce: number): Promise<string[] | string> {
  const txId = waiting ?? (await ledger.lockTransfer(request({ amount: '1' }))).txId;
  const result = await begin({ ...fixture, database: restored, ledger }, { txId, fees: { minedNonce } });
  waiting = result.outcome === 'wait' ? txId : undefined;
  return result.outcome === 'begun' ? getFamily('evm').describe(result.unsigned).resources : result.outcome;
}

describe('an account of which transfers were accepted as missing', () => {
  /** Three transfers of which the first and the last are accepted as missing: their nonces are 0, 1 and 2. */
  async function accepted(): Promise<{ kept: string }> {
    await makeBackup();
    const [lost, kept, last] = [await ordered(request({ amount: '600' })), await ordered(request()), await ordered(request())];
    // the house has no such account
    const claims = claimsOf<OrderClaims>(seen[2]?.compact ?? '');
    seen[2] = { compact: await signOrder({ ...claims, client_id: houseClientId }), unsigned: last.unsigned };
    await restore();
    await ledger.lockTransfer(request({ amount: '800' }));
    expect(await run({ apply: true, acceptMissing: [lost.txId, last.txId] })).toMatchObject({
      rows: [
        { subject: lost.txId, result: 'accepted as missing' },
        { subject: kept.txId, result: 'rebuilt' },
        { subject: last.txId, result: 'accepted as missing' },
      ],
      isOpen: true,
    });
    return { kept: kept.txId };
  }

  test('goes on where the chain has executed none: what they would have used is taken again', async () => {
    await accepted();
    expect(await nextNonce(0)).toEqual(['0']);
    expect(await nextNonce(0)).toEqual(['2']);
    expect(await nextNonce(1)).toEqual(['3']);
  });

  test('goes on where the chain has executed all: nobody has to accept a count', async () => {
    used = 3n;
    await accepted();
    expect(await nextNonce(3)).toEqual(['3']);
    expect(await nextNonce(5)).toBe('wait');
  });

  test('what the chain counts beyond them is not taken for theirs', async () => {
    used = 4n;
    await accepted();
    expect(await nextNonce(4)).toBe('wait');
    expect(await nextNonce(3)).toEqual(['3']);
  });

  test('waits where the chain executes one of them later, until an operator has accepted its count', async () => {
    await accepted();
    expect(await nextNonce(1)).toBe('wait');
    used = 1n;
    await acceptCount(restored, registry, countUsed, { accountId: fixture.account.accountId, chain: 'ethereum', count: '1' });
    expect(await nextNonce(1)).toEqual(['2']);
  });

  test('takes no nonce below one of its own that the chain has included, nor does it wait for anybody', async () => {
    const { kept } = await accepted();
    await restored.query(
      `update transfer_attempts set block_number = 5, block_hash = '0x5', included_id = $2, success = true, fee = 1 where tx_id = $1`,
      [kept, `0x${'ab'.repeat(32)}`],
    );
    expect(await nextNonce(2)).toEqual(['2']);
    // taken back by a reorganisation
    await restored.query('update transfer_attempts set block_number = null, block_hash = null where tx_id = $1', [kept]);
    expect(await nextNonce(0)).toEqual(['0']);
  });

  test.each([0, 1, 2])('a caller that says that the chain counts %i neither burns nor leaves out a nonce', async (count) => {
    used = 2n;
    await accepted();
    // 0 and 1 are used up, 2 is the first one that is not, whatever is said
    expect(await nextNonce(count)).toEqual(['2']);
    expect(await nextNonce(0)).toEqual(['3']);
    expect(await nextNonce(1_000_000)).toBe('wait');
    expect(await nextNonce(0)).toEqual(['4']);
  });
});

test('what no order explains is accepted by an operator, as far as the chain has counted', async () => {
  await makeBackup();
  await restore();
  const { accountId } = fixture.account;
  expect(await nextNonce(7)).toBe('wait');
  const accept = (count: string, asked = countUsed, dryRun = false) =>
    acceptCount(restored, registry, asked, { accountId, chain: 'ethereum', count, dryRun });
  used = 7n;
  for (const count of ['0', '8', '1000000000000000', '-1', '7.0']) expect(await codeOf(accept(count))).toBe('invalid_parameter');
  await expect(accept('8')).rejects.toThrow('must be at most 7');
  await expect(accept('7', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await accept('7', countUsed, true)).toEqual({ accountId, chain: 'ethereum', count: '7' });
  expect(await listAuditLog(restored.manager, { subject: accountId, action: 'account.count_accepted', limit: 1 })).toEqual([]);
  expect(await nextNonce(7)).toBe('wait');
  await accept('7');
  expect(await nextNonce(8)).toBe('wait');
  expect(await nextNonce(7)).toEqual(['7']);
  expect(await nextNonce(7)).toEqual(['8']);
  const log = await listAuditLog(restored.manager, { subject: accountId, limit: 10 });
  expect(log).toContainEqual(expect.objectContaining({ action: 'account.count_accepted' }));
});

test('all three nodes have to answer, unless the operator goes on with two', async () => {
  await makeBackup();
  const { txId } = await ordered(request());
  await restore();
  const three = run({ apply: true, twoNodes: false });
  await expect(three).rejects.toMatchObject({ code: 'signers_unavailable', message: expect.stringContaining('node 1 and 2') });
  await expect(three).rejects.toThrow('node 3: no response in time');
  expect(await count('orders')).toBe(0);
  expect(await run({ apply: true })).toMatchObject({ nodes: [1, 2], rows: [{ subject: txId }], isOpen: true });
});

test('another incarnation that takes over in between is not opened: what was rebuilt may be missing there', async () => {
  await makeBackup();
  const { txId } = await ordered(request());
  await restore();
  const failOver = () =>
    restored.query(
      `create or replace function database_incarnation() returns text language sql stable as $$ select 'standby' $$`,
    );
  const start = ({ txId: rebuilt }: { txId: string }) => failOver().then(() => started.push(rebuilt));
  await expect(run({ apply: true, start })).rejects.toMatchObject({ code: 'business_error' });
  expect(started).toEqual([txId]);
  const [row] = await restored.query<[{ compared_as: string | null }]>('select compared_as from order_comparison');
  expect(row.compared_as).not.toBe('standby');
});

test('an order that no key opens is reported and keeps the gateway closed; it is not dropped', async () => {
  await makeBackup();
  await restore();
  const { privateKey } = newKeyPair('ed25519');
  const head = orderHead({ seq: 7 });
  const lost = { ...head, kind: 'generate_key', key_id: `${newId()}.1`, client_id: null };
  seen.push({ compact: await forgeOrder(lost, { key: privateKey }), unsigned: null });
  const notRebuilt = { subject: `order:${head.jti}`, result: 'not rebuilt', reason: expect.stringContaining('ORDER_KEYS') };
  expect(await run({ apply: true })).toMatchObject({ rows: [notRebuilt], isOpen: false });
  const jwks = JSON.parse(orderKeys) as { keys: object[] };
  const keys = await OrderKeys.create(
    JSON.stringify({ keys: [...jwks.keys, createPublicKey(privateKey).export({ format: 'jwk' })] }),
    'ORDER_KEYS',
  );
  expect(await run({ apply: true, keys })).toMatchObject({ rows: [{ result: 'recorded' }], isOpen: true });
});

test('orders somewhat older than the newest one of the backup are found: their numbers were given to others', async () => {
  const known = await ordered(request());
  await makeBackup();
  const lost = await ordered(request());
  await restore();
  const later = await begun(
    { ...fixture, database: restored, ledger },
    {
      txId: (await ledger.lockTransfer(request())).txId,
      fees: { maxFeePerGas: 3_000_000_000n },
    },
  );
  expect(claimsOf(later.order).seq).toBeGreaterThanOrEqual(claimsOf(seen[1]?.compact as string).seq);
  const result = await run();
  expect(result.rows.map(({ subject }) => subject)).toEqual([lost.txId]);
  expect(result.rows.map(({ subject }) => subject)).not.toContain(known.txId);
});

test('each workflow is started once its row is stored, and a repeated run starts what an interrupted one has not', async () => {
  await makeBackup();
  const [first, second] = [await ordered(request()), await ordered(request())];
  await restore();
  const interrupted = async ({ txId }: { txId: string }) => {
    expect(await restored.query('select 1 from orders where tx_id = $1', [first.txId])).toHaveLength(1);
    expect(await restored.query('select 1 from orders where tx_id = $1', [second.txId])).toHaveLength(0);
    throw new Error(`Temporal is away, ${txId} is not started`);
  };
  await expect(run({ apply: true, start: interrupted })).rejects.toThrow(first.txId);
  expect(await run({ apply: true })).toMatchObject({
    rows: [{ subject: second.txId }],
    started: [first.txId, second.txId],
    isOpen: true,
  });
  expect(started).toEqual([first.txId, second.txId]);
});

test('a dry run starts nothing', async () => {
  await makeBackup();
  await ordered(request());
  await restore();
  expect(await run()).toMatchObject({ rows: [{ result: 'rebuilt' }], started: [], isOpen: false });
  expect(started).toEqual([]);
});

test('what an account does not cover is tried again while transfers that were rebuilt end', async () => {
  await makeBackup();
  const [large, small] = [await ordered(request({ amount: '600' })), await ordered(request({ amount: '10' }))];
  await restore();
  const rival = (await ledger.lockTransfer(request({ amount: '700' }))).txId;
  const start = async ({ txId }: { txId: string }) => {
    started.push(txId);
    if (txId === small.txId) await ledger.cancelTransfer({ txId: rival });
  };
  expect(await run({ apply: true, start })).toMatchObject({
    rows: [
      { subject: large.txId, result: 'rebuilt' },
      { subject: small.txId, result: 'rebuilt' },
    ],
    isOpen: true,
  });
  expect(started).toEqual([small.txId, large.txId]);
});

test('a frozen account is named as that', async () => {
  await makeBackup();
  const { txId } = await ordered(request());
  await restore();
  await restored.query(`update ledger_accounts set frozen_reason = 'test' where account_id = $1 and symbol = 'USDC'`, [
    fixture.account.accountId,
  ]);
  expect(await run({ apply: true })).toMatchObject({
    rows: [{ subject: txId, result: 'not rebuilt', reason: expect.stringContaining('USDC is frozen') }],
    isOpen: false,
  });
});

test('a transfer of which an earlier attempt is unknown is not rebuilt', async () => {
  await makeBackup();
  const { txId } = await ordered(request());
  const second = await begun(fixture, { txId, attempt: 2, fees: { maxFeePerGas: 2_300_000_000n } });
  seen = [{ compact: second.order, unsigned: second.unsigned }];
  await restore();
  expect(await run({ apply: true })).toMatchObject({
    rows: [{ subject: txId, result: 'not rebuilt', reason: expect.stringContaining('attempt 1') }],
    isOpen: false,
  });
});

test.each([
  ['amount', { recipients: (paid: object[]) => paid.map((it) => ({ ...it, amount: '11000000' })) }],
  ['Idempotency-Key', { request: () => 'ab'.repeat(32) }],
])('a row that says another %s than its order is reported and not continued', async (name, change) => {
  const { txId } = await fixture.ledger.lockTransfer(request({ idempotencyKey: newId() }));
  await makeBackup();
  const { order, unsigned } = await begun(fixture, { txId });
  await restore();
  const claims = claimsOf<OrderClaims & { recipients: object[] }>(order);
  const altered = Object.entries(change).map(([field, to]) => [field, (to as (paid: object[]) => unknown)(claims.recipients)]);
  seen = [{ compact: await signOrder({ ...claims, ...(Object.fromEntries(altered) as object) }), unsigned }];
  expect(await run({ apply: true })).toMatchObject({
    rows: [{ subject: txId, result: 'not rebuilt', reason: expect.stringContaining(`differ in: ${name}`) }],
    isOpen: false,
  });
  const [row] = await restored.query<object[]>('select status from transactions where tx_id = $1', [txId]);
  expect(row).toEqual({ status: 'PENDING' });
});

test('two at the same time: the second one says so and does nothing', async () => {
  await makeBackup();
  await ordered(request());
  await restore();
  const second: unknown[] = [];
  const start = async () => {
    second.push(await codeOf(run({ apply: true })));
  };
  expect(await run({ apply: true, start })).toMatchObject({ isOpen: true });
  expect(second).toEqual(['business_error']);
  // and the lock is free again
  expect(await run({ apply: true })).toMatchObject({ isOpen: true });
});

describe('a settlement that was ordered after the backup', () => {
  let settler: Awaited<ReturnType<typeof buildSettler>>;
  beforeEach(async () => {
    settler = await buildSettler(fixture.database, ethereum);
    await fundAccount(fixture.database, settler.account, ethereum, 'ETH', ether);
    await allowSettling(fixture.database, { clientId: fixture.client.clientId, chain: 'ethereum' });
  });

  const settled = (changes: Partial<Claim> = {}) =>
    claimBy(fixture.client.clientId, settler.account.address, { ...upto, ...changes });
  /** Takes less than was authorised, which its sender alone may do. */
  const upto = { method: 'permit2_upto', amount: 5n } as const;

  /** Begun and signed, so that nodes have seen its order. */
  async function begunSettlement(claimed: Claim): Promise<Hex> {
    const result = await fixture.ledger.beginSigning({
      ...{ txId: claimed.txId, lastAttempt: 0, kind: 'first' },
      prepared: prepared(),
    });
    if (result.outcome !== 'begun') throw new Error(JSON.stringify(result));
    seen.push({ compact: result.order, unsigned: result.unsigned });
    return result.unsigned;
  }

  const rowOf = async (database: DataSource, txId: string) =>
    (
      await database.query<object[]>(
        `select t.client_id, t.transaction_type, t.status, t.from_address, t.sender_address, t.to_address, t.to_address_key, t.token_symbol,
                t.contract_address, t.decimals, t.amount, t.fee_symbol, t.fee_decimals, t.fee_locked,
                s.chain, s.scheme, s.payload_type, s.identity, s.authorised, s.valid_after, s.window_end, s.action, s.sponsoring,
                r.resource, r.ordinal, r.owner, a.unsigned, a.signers, a.message_key, a.fee_bound
           from transactions t join x402_settlements s using (tx_id) join reservations r using (tx_id)
           join transfer_attempts a using (tx_id) where tx_id = $1`,
        [txId],
      )
    )[0];

  /** As the client asks for it again. */
  const keyOf = (claimed: Claim, changes: object = {}) => {
    const { payer, token, payTo, nonce, authorised, amount, validBefore, signature } = claimed;
    const permit = {
      ...{ from: payer, permitted: { token, amount: authorised.toString() }, spender: uptoProxyAddress, nonce },
      ...{ deadline: validBefore.toString(), witness: { to: payTo, facilitator: settler.account.address, validAfter: '0' } },
    };
    const asked = {
      ...{ version: 2, scheme: 'upto', payloadType: 'permit2', chain: ethereum, asset: token, payTo, amount: authorised },
      ...{ settlementAmount: amount, extra: {}, payload: { signature, permit2Authorization: permit }, extensions: {} },
      ...{ resource: 'https://seller.example/paid', paymentId: null, ...changes },
    };
    return toPaymentKey(asked as PaymentRequest) as PaymentKey;
  };

  test('comes back with what its bytes say; the same request finds it, another one does not, and its settler is charged once', async () => {
    await makeBackup();
    const claimed = settled();
    await claim(fixture.database, claimed);
    const unsigned = await begunSettlement(claimed);
    const { txId, clientId } = claimed;
    await restore();
    expect(await findClaimed(restored.manager, clientId, keyOf(claimed))).toBeNull();

    expect(await run({ apply: true })).toMatchObject({
      rows: [{ subject: txId, result: 'rebuilt', orders: 1 }],
      started: [txId],
      isOpen: true,
    });
    expect(await rowOf(restored, txId)).toEqual(await rowOf(fixture.database, txId));
    expect(await findClaimed(restored.manager, clientId, keyOf(claimed))).toEqual({ outcome: 'mine', txId });
    const others: [string, object][] = [
      [newId(), {}],
      ...[{ settlementAmount: 6n }, { payTo: randomAddress() }, { amount: 101n }].map((it): [string, object] => [clientId, it]),
    ];
    for (const [by, changes] of others)
      expect(await findClaimed(restored.manager, by, keyOf(claimed, changes))).toEqual({ outcome: 'duplicate' });
    const forged = { ...claimed, signature: `0x${'2b'.repeat(64)}1b` } as const;
    expect(await findClaimed(restored.manager, clientId, keyOf(forged))).toEqual({ outcome: 'duplicate' });

    // the same bytes, and its settler is charged as ever; the next one takes the next nonce
    const again = await ledger.beginSigning({ txId, lastAttempt: 1, kind: 'resume' });
    expect(again).toMatchObject({ outcome: 'begun', unsigned });
    const signatures = signAs(settler.wallet, settler.account, unsigned);
    await ledger.recordSigned({ txId, attempt: 1, signatures });
    await ledger.markSubmitted({ txId, attempt: 1 });
    await include({ ...fixture, database: restored, ledger }, txId, 1, { fee: 1_000n, debited: 5n });
    expect((await ledger.settleTransfer({ txId })).status).toBe('CONFIRMED');
    const gas = await restored.query('select amount, account_id from transactions where parent_tx_id = $1', [txId]);
    expect(gas).toEqual([{ amount: '1000', account_id: settler.account.accountId }]);
    const later = settled();
    await claim(restored, later);
    const next = await ledger.beginSigning({ txId: later.txId, lastAttempt: 0, kind: 'first', prepared: prepared() });
    expect(next.outcome === 'begun' && getFamily('evm').describe(next.unsigned).resources).toEqual(['1']);
    expect(await run({ apply: true })).toMatchObject({ rows: [], isOpen: true });
  });

  test('and was accepted before goes on from its attempts, its cancellation included', async () => {
    const claimed = settled();
    const { txId } = claimed;
    await claim(fixture.database, claimed);
    await makeBackup();
    await begunSettlement(claimed);
    await recordAbandonRequest(fixture.database.manager, { txId, attempt: 1, operator: 'somebody' });
    const fees = { gasLimit: 21_000n, maxFeePerGas: 4_000_000_000n };
    const { unsigned, order } = await begun(fixture, { txId, attempt: 2, kind: 'cancellation', fees });
    seen.push({ compact: order, unsigned });
    await restore();
    expect(await run({ apply: true })).toMatchObject({ rows: [{ subject: txId, result: 'rebuilt', orders: 2 }], isOpen: true });
    const again = await ledger.beginSigning({ txId, lastAttempt: 2, kind: 'resume' });
    expect(again).toMatchObject({ outcome: 'begun', kind: 'cancellation', unsigned });
    // what the house has locked for itself does not change
    expect(await restored.query('select fee_locked from transactions where tx_id = $1', [txId])).toEqual([{ fee_locked: '0' }]);
  });

  test.each<[string, (claims: SettlementClaims, claimed: Claim) => SettlementClaims, string]>([
    [
      'a client that is not there',
      (it) => ({ ...it, settlement: { ...it.settlement, client_id: newId() } }),
      'is not in the database',
    ],
    [
      'a token that the house gives to its payer',
      (it) => ({ ...it, kind: 'gas', settlement: undefined }) as unknown as SettlementClaims,
      'not what a payer lacks',
    ],
  ])('is not rebuilt for %s, and the gateway stays closed', async (_, change, reason) => {
    await makeBackup();
    const claimed = settled();
    await claim(fixture.database, claimed);
    await begunSettlement(claimed);
    const [shown] = seen as [SeenOrder];
    const claims = claimsOf<SettlementClaims>(shown.compact);
    seen = [{ ...shown, compact: await signOrder(change(claims, claimed)) }];
    await restore();
    expect(await run({ apply: true })).toMatchObject({
      rows: [{ subject: claimed.txId, result: 'not rebuilt', reason: expect.stringContaining(reason) }],
      isOpen: false,
    });
    expect(await count('x402_settlements')).toBe(0);
  });

  test('is not continued where its row says that another client has asked, or something else is settled', async () => {
    const claimed = settled();
    await claim(fixture.database, claimed);
    await makeBackup();
    await begunSettlement(claimed);
    await restore();
    const [shown] = seen as [SeenOrder];
    const claims = claimsOf<SettlementClaims>(shown.compact);
    const ofAnother = { ...claims, settlement: { ...claims.settlement, client_id: newId() } };
    seen = [{ ...shown, compact: await signOrder(ofAnother) }];
    expect(await run({ apply: true })).toMatchObject({ rows: [{ reason: expect.stringMatching(/differ in: client$/) }] });
    seen = [shown];
    await restored.transaction(async (manager) => {
      await manager.query('set local session_replication_role = replica');
      await manager.query(`update x402_settlements set identity = identity || '1' where tx_id = $1`, [claimed.txId]);
    });
    expect(await run({ apply: true })).toMatchObject({
      rows: [{ reason: expect.stringMatching(/differ in: identity$/) }],
      isOpen: false,
    });
  });
});

test('what is accepted as missing stays missing while its chain cannot be asked, and all that was done is told', async () => {
  await makeBackup();
  const [lost, kept] = [await ordered(request()), await ordered(request())];
  const claims = claimsOf<OrderClaims>(seen[0]?.compact ?? '');
  seen[0] = { compact: await signOrder({ ...claims, client_id: houseClientId }), unsigned: lost.unsigned };
  await restore();
  for (const error of [new ConfigError('entry 1 serves chain id 5'), new GatewayError('chain_unavailable', 'ethereum: away')])
    expect(await run({ apply: true, acceptMissing: 'stuck', countUsed: () => Promise.reject(error) })).toMatchObject({
      rows: expect.arrayContaining([
        expect.objectContaining({ subject: lost.txId, result: 'not rebuilt', reason: expect.stringContaining(error.message) }),
      ]),
      isOpen: false,
    });
  expect(await count('orders')).toBe(1);
  expect(started).toContain(kept.txId);
});

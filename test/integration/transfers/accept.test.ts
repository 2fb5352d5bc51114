import { screeningRules } from '../../../src/screening/rules';
import { newId } from '../../../src/platform/ids';
import { TransactionEntity } from '../../../src/transactions/entity';
import { buildAccount, buildAsset, buildClient, buildTransferRequest } from '../../factories';
import { balances, base, codeOf, ether, ethereum, fund, usdc, type Fixture } from '../ledger/fixture';
import { useFundedFixture } from './fixture';

let fixture: Fixture;
const { request, row, locked } = useFundedFixture((it) => (fixture = it));

describe('accept', () => {
  test('locks amount and fee bound; the workflow adopts them', async () => {
    const wanted = request({ memo: 'rent', idempotencyKey: 'k' });
    expect(await fixture.ledger.lockTransfer(wanted)).toEqual({ txId: wanted.txId, status: 'PENDING', replayed: false });
    expect(await fixture.ledger.adoptHold({ txId: wanted.txId })).toEqual({
      outcome: 'held',
      transfer: {
        blockTimeMs: ethereum.blockTimeMs,
        chain: 'ethereum',
        stuckAfterMs: ethereum.stuckAfterMs,
        requiredConfirmations: ethereum.confirmations,
        explorerTx: null,
        rules: { stuck: 'replace', expired: 'park', abandoned: 'cancel' },
        lastAttempt: 0,
        isAbandoned: false,
        isFollowed: false,
        isUnsigned: false,
      },
    });
    const { feeLocked } = await row(wanted.txId);
    expect(feeLocked).toBeGreaterThan(0n);
    expect(await balances(fixture, 'USDC')).toEqual([990n * usdc, 10n * usdc]);
    expect(await balances(fixture, 'ETH')).toEqual([10n * ether - feeLocked, feeLocked]);
  });

  test.each([
    ['an unknown chain', { chain: 'dogecoin' }, 'invalid_parameter'],
    ['an address of another format', { toAddress: 'bc1q' }, 'invalid_address'],
    ['a wrong checksum', { toAddress: '0x6AE8cF0C1BbA5F214D82dc34e8566fA4f427C375' }, 'invalid_address'],
    ['a sender that is not ours', { fromAddress: '0x6Ae8cF0C1BbA5F214D82dc34e8566fA4f427C375' }, 'not_found'],
    ['a token that was not added', { tokenSymbol: 'USDT' }, 'not_found'],
    ['a token nobody knows', { tokenSymbol: 'DOGE' }, 'not_found'],
    ['nothing', { amount: '0' }, 'invalid_parameter'],
    ['a negative amount', { amount: '-1' }, 'invalid_parameter'],
    ['an exponent', { amount: '1e3' }, 'invalid_parameter'],
    ['too many decimals', { amount: '1.0000001' }, 'invalid_parameter'],
    ['more digits than there are', { amount: '9'.repeat(79) }, 'invalid_parameter'],
    ['more than there is', { amount: '1000.000001' }, 'insufficient_balance'],
    ['more native coin than the fee leaves', { tokenSymbol: 'ETH', amount: '10' }, 'insufficient_balance'],
  ])('refuses %s and stores nothing', async (_, changes, code) => {
    const wanted = request(changes);
    expect(await codeOf(fixture.ledger.lockTransfer(wanted))).toBe(code);
    expect(await fixture.database.manager.existsBy(TransactionEntity, { txId: wanted.txId })).toBe(false);
    expect(await balances(fixture, 'USDC')).toEqual([1000n * usdc, 0n]);
  });

  test('refuses from = to in another letter case', async () => {
    const toAddress = fixture.account.address.toLowerCase();
    await expect(fixture.ledger.lockTransfer(request({ toAddress }))).rejects.toMatchObject({
      code: 'invalid_parameter',
      fields: [{ field: 'to_address' }],
    });
  });

  test('finds from_address in any letter case, also of a repeated key', async () => {
    const { address } = fixture.account;
    const wrongChecksum = address.replace(/[a-f]/i, (it) => (it === it.toLowerCase() ? it.toUpperCase() : it.toLowerCase()));
    const wanted = request({ fromAddress: address.toLowerCase(), idempotencyKey: 'k' });
    expect((await fixture.ledger.lockTransfer(wanted)).txId).toBe(wanted.txId);
    expect((await fixture.ledger.lockTransfer({ ...wanted, txId: newId(), fromAddress: wrongChecksum })).txId).toBe(wanted.txId);
  });

  test('another client’s account does not exist', async () => {
    const stranger = await buildClient(fixture.database);
    expect(await codeOf(fixture.ledger.lockTransfer(request({ clientId: stranger.clientId })))).toBe('not_found');
  });

  test('a native coin with a balance needs no asset', async () => {
    const { database, wallet } = fixture;
    const account = await buildAccount(database, wallet, ethereum);
    const wanted = buildTransferRequest(account, ethereum, { amount: '0.5' });
    expect(await codeOf(fixture.ledger.lockTransfer(wanted))).toBe('not_found');
    await fund({ ...fixture, account }, 'ETH', ether);
    expect(await codeOf(fixture.ledger.lockTransfer(wanted))).toBe('none');
  });

  test('names the coin when only the fee is lacking', async () => {
    const account = await buildAccount(fixture.database, fixture.wallet, ethereum);
    await buildAsset(fixture.database, account, ethereum, 'USDC');
    await fund({ ...fixture, account }, 'USDC', 10n * usdc);
    await expect(
      fixture.ledger.lockTransfer(buildTransferRequest(account, ethereum, { tokenSymbol: 'USDC' })),
    ).rejects.toMatchObject({
      code: 'insufficient_balance',
      message: expect.stringMatching(/ETH on ethereum .* network fee/) as string,
    });
  });

  test.each([
    ['are not known', 'delete from chain_cursors'],
    ['are older than ten minutes', `update chain_cursors set fee_levels_at = now() - interval '10 minutes 1 second'`],
  ])('is unavailable while the chain’s fees %s, and stores nothing', async (_, statement) => {
    await fixture.database.query(statement);
    const wanted = request();
    expect(await codeOf(fixture.ledger.lockTransfer(wanted))).toBe('chain_unavailable');
    expect(await fixture.database.manager.existsBy(TransactionEntity, { txId: wanted.txId })).toBe(false);
  });

  test.each([
    ['wallet_not_active', `update wallets set status = 'SUSPENDED'`],
    ['account_not_active', `update accounts set status = 'INACTIVE'`],
    ['business_error', `update ledger_accounts set frozen_reason = 'shortfall' where symbol = 'USDC'`],
    ['business_error', `update ledger_accounts set frozen_reason = 'shortfall' where symbol = 'ETH'`],
  ])('%s after %s', async (code, statement) => {
    await fixture.database.query(statement);
    expect(await codeOf(fixture.ledger.lockTransfer(request()))).toBe(code);
  });

  test('limits are exact and count what is under way, not what failed', async () => {
    await fixture.database.query(`insert into wallet_limits values ($1, 'USDC', 50.000001, 100)`, [fixture.wallet.walletId]);
    expect(await codeOf(fixture.ledger.lockTransfer(request({ amount: '50.000002' })))).toBe('business_error');
    const first = await locked({ amount: '50.000001' });
    expect(await codeOf(fixture.ledger.lockTransfer(request({ amount: '50' })))).toBe('business_error');
    await fixture.ledger.cancelTransfer({ txId: first });
    await locked({ amount: '50' });
    await locked({ amount: '50' });
    expect(await codeOf(fixture.ledger.lockTransfer(request({ amount: '0.000001' })))).toBe('business_error');
    // other symbols have limits of their own
    expect(await codeOf(fixture.ledger.lockTransfer(request({ tokenSymbol: 'ETH', amount: '5' })))).toBe('none');
  });

  test('is idempotent on tx_id whatever has become of it, and on the key for ever', async () => {
    const wanted = request({ idempotencyKey: 'order 7' });
    await fixture.ledger.lockTransfer(wanted);
    await fixture.ledger.cancelTransfer({ txId: wanted.txId });
    expect((await fixture.ledger.lockTransfer(wanted)).status).toBe('CANCELLED');
    expect(await fixture.ledger.lockTransfer({ ...wanted, txId: newId() })).toMatchObject({
      txId: wanted.txId,
      status: 'CANCELLED',
    });
    expect(await codeOf(fixture.ledger.lockTransfer({ ...wanted, txId: newId(), amount: '11' }))).toBe('idempotency_key_reused');
    const stranger = await buildClient(fixture.database);
    expect(await codeOf(fixture.ledger.lockTransfer({ ...wanted, clientId: stranger.clientId }))).toBe('not_found');
  });
});

describe('screen', () => {
  test('allows, then refuses what has changed since the lock', async () => {
    const txId = await locked();
    expect(await fixture.ledger.screenTransfer({ txId })).toEqual({ outcome: 'allowed' });
    await fixture.database.query(`update ledger_accounts set frozen_reason = 'x' where symbol = 'USDC'`);
    expect(await fixture.ledger.screenTransfer({ txId })).toMatchObject({ outcome: 'refused', code: 'business_error' });
    await fixture.database.query(`update accounts set status = 'INACTIVE'`);
    expect(await fixture.ledger.screenTransfer({ txId })).toMatchObject({ outcome: 'refused', code: 'account_not_active' });
    await fixture.database.query(`update wallets set status = 'SUSPENDED'`);
    expect(await fixture.ledger.screenTransfer({ txId })).toMatchObject({ outcome: 'refused', code: 'wallet_not_active' });
    expect(screeningRules.map(({ name }) => name)).toEqual(['wallet is active', 'account is active', 'asset is not frozen']);
  });
});

test('the same address holds assets and nonces of its own on every chain', async () => {
  expect(await codeOf(fixture.ledger.lockTransfer({ ...request(), chain: base.name }))).toBe('not_found');
});

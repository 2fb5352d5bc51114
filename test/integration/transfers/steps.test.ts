import { screeningRules } from '../../../src/screening/rules';
import { newId } from '../../../src/platform/ids';
import { TransactionEntity } from '../../../src/transactions/entity';
import { buildAccount, buildAsset, buildClient, buildTransferRequest, buildWallet, signAs } from '../../factories';
import { balances, base, codeOf, createBench, differences, ether, ethereum, fund, include, sign, usdc, usualFees, type Bench } from '../ledger/bench';

let bench: Bench;
beforeEach(async () => {
  bench = await createBench({ poolSize: 5 });
  await fund(bench, 'ETH', 10n * ether);
  await fund(bench, 'USDC', 1000n * usdc);
});
afterEach(async () => {
  expect(await differences(bench)).toEqual([]);
  await bench.close();
});

const request = (changes: Parameters<typeof buildTransferRequest>[2] = {}) => buildTransferRequest(bench.account, ethereum, { tokenSymbol: 'USDC', amount: '10', ...changes });
const row = (txId: string) => bench.database.manager.findOneByOrFail(TransactionEntity, { txId });
const locked = async (changes: Parameters<typeof request>[0] = {}) => (await bench.ledger.lockTransfer(request(changes))).txId;

describe('lock', () => {
  test('answers with what the client and the workflow need', async () => {
    const wanted = request({ memo: 'rent', idempotencyKey: 'k' });
    expect(await bench.ledger.lockTransfer(wanted)).toEqual({
      txId: wanted.txId,
      status: 'PENDING',
      walletId: bench.wallet.walletId,
      tokenSymbol: 'USDC',
      chain: 'ethereum',
      amount: '10',
      stuckAfterMs: ethereum.stuckAfterMs,
      requiredConfirmations: ethereum.confirmations,
      explorerTx: null,
    });
    const { feeLocked } = await row(wanted.txId);
    expect(feeLocked).toBeGreaterThan(0n);
    expect(await balances(bench, 'USDC')).toEqual([990n * usdc, 10n * usdc]);
    expect(await balances(bench, 'ETH')).toEqual([10n * ether - feeLocked, feeLocked]);
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
    expect(await codeOf(bench.ledger.lockTransfer(wanted))).toBe(code);
    expect(await bench.database.manager.existsBy(TransactionEntity, { txId: wanted.txId })).toBe(false);
    expect(await balances(bench, 'USDC')).toEqual([1000n * usdc, 0n]);
  });

  test('refuses from = to in another letter case', async () => {
    const toAddress = bench.account.address.toLowerCase();
    await expect(bench.ledger.lockTransfer(request({ toAddress }))).rejects.toMatchObject({ code: 'invalid_parameter', fields: [{ field: 'to_address' }] });
  });

  test('finds from_address in another letter case', async () => {
    expect(await codeOf(bench.ledger.lockTransfer(request({ fromAddress: bench.account.address.toLowerCase() })))).toBe('none');
  });

  test('another client’s account does not exist', async () => {
    const stranger = await buildClient(bench.database);
    expect(await codeOf(bench.ledger.lockTransfer(request({ clientId: stranger.clientId })))).toBe('not_found');
  });

  test('a native coin with a balance needs no asset', async () => {
    const { database, wallet } = bench;
    const account = await buildAccount(database, wallet, ethereum);
    const wanted = buildTransferRequest(account, ethereum, { amount: '0.5' });
    expect(await codeOf(bench.ledger.lockTransfer(wanted))).toBe('not_found');
    await fund({ ...bench, account }, 'ETH', ether);
    expect(await codeOf(bench.ledger.lockTransfer(wanted))).toBe('none');
  });

  test('names the coin when only the fee is lacking', async () => {
    const account = await buildAccount(bench.database, bench.wallet, ethereum);
    await buildAsset(bench.database, account, ethereum, 'USDC');
    await fund({ ...bench, account }, 'USDC', 10n * usdc);
    await expect(bench.ledger.lockTransfer(buildTransferRequest(account, ethereum, { tokenSymbol: 'USDC' }))).rejects.toMatchObject({
      code: 'insufficient_balance',
      message: expect.stringMatching(/ETH on ethereum .* network fee/) as string,
    });
  });

  test('is unavailable until the chain’s fees are known', async () => {
    await bench.database.query('delete from chain_cursors');
    expect(await codeOf(bench.ledger.lockTransfer(request()))).toBe('unavailable');
  });

  test.each([
    ['wallet_not_active', `update wallets set status = 'SUSPENDED'`],
    ['account_not_active', `update accounts set status = 'INACTIVE'`],
    ['business_error', `update ledger_accounts set frozen_reason = 'shortfall' where symbol = 'USDC'`],
    ['business_error', `update ledger_accounts set frozen_reason = 'shortfall' where symbol = 'ETH'`],
  ])('%s after %s', async (code, statement) => {
    await bench.database.query(statement);
    expect(await codeOf(bench.ledger.lockTransfer(request()))).toBe(code);
  });

  test('limits are exact and count what is under way, not what failed', async () => {
    await bench.database.query(`insert into wallet_limits values ($1, 'USDC', 50.000001, 100)`, [bench.wallet.walletId]);
    expect(await codeOf(bench.ledger.lockTransfer(request({ amount: '50.000002' })))).toBe('business_error');
    const first = await locked({ amount: '50.000001' });
    expect(await codeOf(bench.ledger.lockTransfer(request({ amount: '50' })))).toBe('business_error');
    await bench.ledger.cancelTransfer({ txId: first });
    await locked({ amount: '50' });
    await locked({ amount: '50' });
    expect(await codeOf(bench.ledger.lockTransfer(request({ amount: '0.000001' })))).toBe('business_error');
    // other symbols have limits of their own
    expect(await codeOf(bench.ledger.lockTransfer(request({ tokenSymbol: 'ETH', amount: '5' })))).toBe('none');
  });

  test('is idempotent on tx_id whatever has become of it, and on the key for ever', async () => {
    const wanted = request({ idempotencyKey: 'order 7' });
    await bench.ledger.lockTransfer(wanted);
    await bench.ledger.cancelTransfer({ txId: wanted.txId });
    expect((await bench.ledger.lockTransfer(wanted)).status).toBe('CANCELLED');
    expect(await bench.ledger.lockTransfer({ ...wanted, txId: newId() })).toMatchObject({ txId: wanted.txId, status: 'CANCELLED' });
    expect(await codeOf(bench.ledger.lockTransfer({ ...wanted, txId: newId(), amount: '11' }))).toBe('idempotency_key_reused');
    const stranger = await buildClient(bench.database);
    expect(await codeOf(bench.ledger.lockTransfer({ ...wanted, clientId: stranger.clientId }))).toBe('not_found');
  });
});

describe('screen', () => {
  test('allows, then refuses what has changed since the lock', async () => {
    const txId = await locked();
    expect(await bench.ledger.screenTransfer({ txId })).toEqual({ allowed: true });
    await bench.database.query(`update ledger_accounts set frozen_reason = 'x' where symbol = 'USDC'`);
    expect(await bench.ledger.screenTransfer({ txId })).toMatchObject({ allowed: false, code: 'business_error' });
    await bench.database.query(`update accounts set status = 'INACTIVE'`);
    expect(await bench.ledger.screenTransfer({ txId })).toMatchObject({ allowed: false, code: 'account_not_active' });
    await bench.database.query(`update wallets set status = 'SUSPENDED'`);
    expect(await bench.ledger.screenTransfer({ txId })).toMatchObject({ allowed: false, code: 'wallet_not_active' });
    expect(screeningRules(bench.database).map(({ name }) => name)).toEqual(['wallet is active', 'account is active', 'asset is not frozen']);
  });
});

describe('cancel and end', () => {
  test('before signing: unlocked, and a second call does nothing', async () => {
    const txId = await locked();
    expect(await bench.ledger.cancelTransfer({ txId })).toEqual({ status: 'CANCELLED' });
    expect(await bench.ledger.cancelTransfer({ txId })).toEqual({ status: 'CANCELLED' });
    expect(await bench.ledger.endTransfer({ txId, status: 'FAILED', code: 'stuck', reason: 'x' })).toEqual({ status: 'CANCELLED' });
    expect(await balances(bench, 'USDC')).toEqual([1000n * usdc, 0n]);
    expect(await balances(bench, 'ETH')).toEqual([10n * ether, 0n]);
  });

  test('rejected with its reason', async () => {
    const txId = await locked();
    expect(await bench.ledger.endTransfer({ txId, status: 'REJECTED', code: 'screening_refused', reason: 'no' })).toEqual({ status: 'REJECTED' });
    expect(await row(txId)).toMatchObject({ failureCode: 'screening_refused', failureMessage: 'no' });
    expect(await codeOf(bench.ledger.cancelTransfer({ txId }))).toBe('not_cancellable');
  });

  test('parked before signing can still be cancelled', async () => {
    const txId = await locked();
    await bench.ledger.markAttention({ txId, code: 'chain_unavailable', reason: 'down' });
    expect(await bench.ledger.cancelTransfer({ txId })).toEqual({ status: 'CANCELLED' });
  });

  test('not once signing has begun', async () => {
    const txId = await locked();
    await bench.ledger.beginSigning({ txId, attempt: 1, fees: usualFees });
    expect(await codeOf(bench.ledger.cancelTransfer({ txId }))).toBe('not_cancellable');
    expect(await codeOf(bench.ledger.endTransfer({ txId, status: 'FAILED', code: 'stuck', reason: 'x' }))).toBe('not_cancellable');
    await bench.ledger.markAttention({ txId, code: 'signers_unavailable', reason: 'x' });
    expect(await codeOf(bench.ledger.cancelTransfer({ txId }))).toBe('not_cancellable');
  });

  test('unknown transfers', async () => {
    expect(await codeOf(bench.ledger.cancelTransfer({ txId: newId() }))).toBe('not_found');
  });
});

describe('signing', () => {
  test('takes the nonce, and a retried call gets the same bytes, then the hash', async () => {
    const txId = await locked();
    const begun = await bench.ledger.beginSigning({ txId, attempt: 1, fees: { ...usualFees, minedNonce: 3 } });
    expect(begun).toMatchObject({
      outcome: 'begun',
      request: { keyId: bench.wallet.keyId, derivationPath: 'm/60/0', family: 'evm', kind: 'first', attempt: 1, intent: { txId, amount: '10000000' } },
    });
    expect(await bench.ledger.beginSigning({ txId, attempt: 1, fees: { ...usualFees, maxFeePerGas: '1', minedNonce: 9 } })).toEqual(begun);
    if (begun.outcome !== 'begun') throw new Error();
    const signatures = signAs(bench.wallet, bench.account, begun.request.unsigned);
    const { hash } = await bench.ledger.recordSigned({ txId, attempt: 1, signatures });
    expect(await bench.ledger.recordSigned({ txId, attempt: 1, signatures })).toEqual({ hash });
    expect(await bench.ledger.beginSigning({ txId, attempt: 1, fees: usualFees })).toEqual({ outcome: 'already_signed', hash });
    expect(await bench.ledger.markSubmitted({ txId, attempt: 1 })).toEqual({ status: 'SUBMITTED' });
    expect(await row(txId)).toMatchObject({ status: 'SUBMITTED', txHash: hash });
  });

  test('refuses signatures of another key', async () => {
    const txId = await locked();
    const begun = await bench.ledger.beginSigning({ txId, attempt: 1, fees: usualFees });
    if (begun.outcome !== 'begun') throw new Error();
    const stranger = await buildWallet(bench.database, bench.client);
    await expect(bench.ledger.recordSigned({ txId, attempt: 1, signatures: signAs(stranger, bench.account, begun.request.unsigned) })).rejects.toThrow();
  });

  test('fills a gap first and passes over what is mined', async () => {
    const ids = await Promise.all([locked(), locked(), locked(), locked()]);
    const [a, b, c, d] = ids as [string, string, string, string];
    await sign(bench, a, 1, { minedNonce: 0 });
    await sign(bench, b, 1, { minedNonce: 2 });
    await sign(bench, c, 1, { minedNonce: 0 });
    await sign(bench, d, 1, { minedNonce: 0 });
    const nonces = await bench.database.query<{ tx_id: string; nonce: string }[]>('select tx_id, nonce from nonces order by nonce');
    expect(nonces.map(({ tx_id }) => tx_id)).toEqual([a, c, b, d]);
    expect(nonces.map(({ nonce }) => Number(nonce))).toEqual([0, 1, 2, 3]);
  });

  test('locks more for a fee above the bound', async () => {
    const txId = await locked();
    const before = await row(txId);
    const maxFeePerGas = before.feeLocked / 65_000n + 1n;
    await sign(bench, txId, 1, { maxFeePerGas: maxFeePerGas.toString() });
    expect((await row(txId)).feeLocked).toBe(maxFeePerGas * 65_000n);
    expect((await balances(bench, 'ETH'))[1]).toBe(maxFeePerGas * 65_000n);
    // and again for a replacement, though the state did not change
    await bench.ledger.markSubmitted({ txId, attempt: 1 });
    await sign(bench, txId, 2, { maxFeePerGas: (maxFeePerGas * 2n).toString() });
    await sign(bench, txId, 3, { maxFeePerGas: (maxFeePerGas * 3n).toString() });
    expect((await balances(bench, 'ETH'))[1]).toBe(maxFeePerGas * 3n * 65_000n);
  });

  test('refused when the account cannot lock more: nothing has changed, and it may end', async () => {
    const txId = await locked();
    const before = await row(txId);
    const fees = { ...usualFees, maxFeePerGas: (ether / 1000n).toString() };
    expect(await bench.ledger.beginSigning({ txId, attempt: 1, fees })).toMatchObject({ outcome: 'refused', code: 'fee_above_bound' });
    expect(await row(txId)).toEqual(before);
    expect(await bench.ledger.endTransfer({ txId, status: 'FAILED', code: 'fee_above_bound', reason: 'x' })).toEqual({ status: 'FAILED' });
    expect(await bench.ledger.beginSigning({ txId, attempt: 1, fees })).toEqual({ outcome: 'ended', status: 'FAILED' });
  });

  test('a replacement has the same nonce, recipient and amount', async () => {
    const txId = await locked();
    const first = await sign(bench, txId);
    await bench.ledger.markSubmitted({ txId, attempt: 1 });
    const second = await sign(bench, txId, 2, { maxFeePerGas: '2300000000', minedNonce: 0 });
    expect(second).not.toBe(first);
    expect((await row(txId)).status).toBe('SUBMITTED');
    await bench.ledger.markSubmitted({ txId, attempt: 2 });
    expect((await row(txId)).txHash).toBe(second);
    const attempts = await bench.database.query<{ kind: string; nonce: string }[]>('select kind, nonce from transfer_attempts order by attempt');
    expect(attempts).toEqual([{ kind: 'first', nonce: '0' }, { kind: 'replacement', nonce: '0' }]);
  });

  test('a replacement that would be the same transaction is refused', async () => {
    const txId = await locked();
    await sign(bench, txId);
    expect(await bench.ledger.beginSigning({ txId, attempt: 2, fees: { ...usualFees, l1DataFee: '9' } })).toMatchObject({ outcome: 'refused', code: 'stuck' });
  });

  test('attempts come in order', async () => {
    const txId = await locked();
    await expect(bench.ledger.beginSigning({ txId, attempt: 2, fees: usualFees })).rejects.toThrow(/cannot begin/);
  });

  test('parked and resumed: the same bytes, SIGNING again, the failure gone', async () => {
    const txId = await locked();
    const begun = await bench.ledger.beginSigning({ txId, attempt: 1, fees: usualFees });
    await bench.ledger.markAttention({ txId, code: 'signers_unavailable', reason: 'two nodes down' });
    await bench.ledger.markAttention({ txId, code: 'intent_mismatch', reason: 'refused' });
    expect(await row(txId)).toMatchObject({ status: 'NEEDS_ATTENTION', failureCode: 'intent_mismatch', version: 2 });
    expect(await bench.ledger.beginSigning({ txId, attempt: 1, fees: usualFees })).toEqual(begun);
    expect(await row(txId)).toMatchObject({ status: 'SIGNING', failureCode: null });
  });
});

describe('settle', () => {
  const submitted = async (changes: Parameters<typeof request>[0] = {}) => {
    const txId = await locked(changes);
    await sign(bench, txId);
    await bench.ledger.markSubmitted({ txId, attempt: 1 });
    return txId;
  };

  test('a token transfer: amount and real fee leave, the rest of the fee bound returns', async () => {
    const txId = await submitted();
    await include(bench, txId, 1, { fee: 1_000n, debited: 10n * usdc });
    const confirmed = { status: 'CONFIRMED', code: null, reason: null };
    expect(await bench.ledger.settleTransfer({ txId })).toEqual(confirmed);
    expect(await bench.ledger.settleTransfer({ txId })).toEqual(confirmed);
    expect(await balances(bench, 'USDC')).toEqual([990n * usdc, 0n]);
    expect(await balances(bench, 'ETH')).toEqual([10n * ether - 1_000n, 0n]);
    expect(await row(txId)).toMatchObject({ fee: 1_000n, blockNumber: 7n });
  });

  test('a native transfer', async () => {
    const txId = await submitted({ tokenSymbol: 'ETH', amount: '2.5' });
    await include(bench, txId, 1, { fee: 42n, debited: (5n * ether) / 2n });
    expect((await bench.ledger.settleTransfer({ txId })).status).toBe('CONFIRMED');
    expect(await balances(bench, 'ETH')).toEqual([(15n * ether) / 2n - 42n, 0n]);
  });

  test('reverted: refunded but for the fee', async () => {
    const txId = await submitted();
    await include(bench, txId, 1, { success: false, fee: 5_000n });
    expect(await bench.ledger.settleTransfer({ txId })).toMatchObject({ status: 'FAILED', code: 'reverted_on_chain' });
    expect(await balances(bench, 'USDC')).toEqual([1000n * usdc, 0n]);
    expect(await balances(bench, 'ETH')).toEqual([10n * ether - 5_000n, 0n]);
  });

  test('the replacement was executed, not the first', async () => {
    const txId = await submitted();
    const second = await sign(bench, txId, 2, { maxFeePerGas: '2300000000' });
    await include(bench, txId, 2, { debited: 10n * usdc });
    await bench.ledger.settleTransfer({ txId });
    expect((await row(txId)).txHash).toBe(second);
  });

  test('fee-on-transfer: what left is debited, the recipient’s shortfall told', async () => {
    const txId = await submitted();
    await include(bench, txId, 1, { debited: 10n * usdc, received: 9n * usdc });
    expect(await bench.ledger.settleTransfer({ txId })).toEqual({ status: 'CONFIRMED', code: null, reason: 'The recipient got 9 of 10 USDC' });
    expect(await balances(bench, 'USDC')).toEqual([990n * usdc, 0n]);
  });

  test('less left than asked: the rest returns', async () => {
    const txId = await submitted();
    await include(bench, txId, 1, { debited: 4n * usdc });
    expect((await bench.ledger.settleTransfer({ txId })).status).toBe('CONFIRMED');
    expect(await balances(bench, 'USDC')).toEqual([996n * usdc, 0n]);
  });

  test.each([null, 0n])('success without the movement (%s): parked, nothing unlocked, settled once it is seen', async (debited) => {
    const txId = await submitted();
    await include(bench, txId, 1, { debited });
    expect(await bench.ledger.settleTransfer({ txId })).toMatchObject({ status: 'NEEDS_ATTENTION', code: 'transfer_not_observed' });
    expect(await balances(bench, 'USDC')).toEqual([990n * usdc, 10n * usdc]);
    await include(bench, txId, 1, { debited: 10n * usdc });
    expect((await bench.ledger.settleTransfer({ txId })).status).toBe('CONFIRMED');
    expect(await row(txId)).toMatchObject({ failureCode: null, failureMessage: null });
  });

  test('a fee above what is locked is taken from what is there', async () => {
    const txId = await submitted();
    const fee = (await row(txId)).feeLocked + 77n;
    await include(bench, txId, 1, { debited: 10n * usdc, fee });
    await bench.ledger.settleTransfer({ txId });
    expect(await balances(bench, 'ETH')).toEqual([10n * ether - fee, 0n]);
    expect(bench.alerts).toEqual([]);
  });

  test('and what is not there is the house’s loss: posted, frozen, alerted', async () => {
    const txId = await submitted();
    await include(bench, txId, 1, { debited: 10n * usdc, fee: 11n * ether });
    expect((await bench.ledger.settleTransfer({ txId })).status).toBe('CONFIRMED');
    expect(await balances(bench, 'ETH')).toEqual([0n, 0n]);
    const loss = await bench.database.query(`select symbol, amount from ledger_entries where bucket = 'LOSS'`);
    expect(loss).toEqual([{ symbol: 'ETH', amount: (-ether).toString() }]);
    expect(bench.alerts).toMatchObject([{ alert: 'ledger_shortfall', tx_id: txId, symbol: 'ETH', amount: ether.toString() }]);
    await fund(bench, 'ETH', 5n * ether);
    expect(await codeOf(bench.ledger.lockTransfer(request()))).toBe('business_error');
  });

  test('nothing to settle while nothing is included', async () => {
    const txId = await submitted();
    expect(await codeOf(bench.ledger.settleTransfer({ txId }))).toBe('unavailable');
    expect((await row(txId)).status).toBe('SUBMITTED');
  });

  test('ended transfers ignore late messages', async () => {
    const txId = await submitted();
    await include(bench, txId, 1, { debited: 10n * usdc });
    await bench.ledger.settleTransfer({ txId });
    await bench.ledger.markAttention({ txId, code: 'stuck', reason: 'late' });
    expect(await bench.ledger.markSubmitted({ txId, attempt: 1 })).toEqual({ status: 'CONFIRMED' });
    expect(await bench.ledger.endTransfer({ txId, status: 'FAILED', code: 'stuck', reason: 'late' })).toEqual({ status: 'CONFIRMED' });
    expect(await bench.ledger.beginSigning({ txId, attempt: 2, fees: usualFees })).toEqual({ outcome: 'ended', status: 'CONFIRMED' });
    expect(await codeOf(bench.ledger.cancelTransfer({ txId }))).toBe('not_cancellable');
    const timeline = await bench.database.query<{ status: string }[]>(`select status from transaction_events where tx_id = $1 order by seq`, [txId]);
    expect(timeline.map(({ status }) => status)).toEqual(['PENDING', 'SIGNING', 'SUBMITTED', 'CONFIRMED']);
  });
});

describe('wallet', () => {
  test('becomes active with its key, once', async () => {
    const walletId = newId();
    await bench.database.query(`insert into wallets (wallet_id, client_id, wallet_name) values ($1, $2, 'w')`, [walletId, bench.client.clientId]);
    const key = { walletId, keyId: newId(), publicKey: `0x02${'11'.repeat(32)}`, chainCode: `0x${'22'.repeat(32)}` } as const;
    await bench.ledger.activateWallet(key);
    await bench.ledger.activateWallet(key);
    expect(await codeOf(bench.ledger.activateWallet({ ...key, keyId: newId() }))).toBe('business_error');
    const [wallet] = await bench.database.query<object[]>('select status, key_status, key_id, length(public_key) as bytes from wallets where wallet_id = $1', [walletId]);
    expect(wallet).toEqual({ status: 'ACTIVE', key_status: 'ACTIVE', key_id: key.keyId, bytes: 33 });
  });
});

test('the same address holds assets and nonces of its own on every chain', async () => {
  expect(await codeOf(bench.ledger.lockTransfer({ ...request(), chain: base.name }))).toBe('not_found');
});

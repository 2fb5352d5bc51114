import { getFamily } from '../../../src/chains/families';
import { verifyIntent } from '../../../src/mpc/verify-intent';
import { newId } from '../../../src/platform/ids';
import { recordAbandonRequest } from '../../../src/transfers/operate/operator-requests';
import { buildWallet, randomAddress, setFeeLevels, signAs } from '../../factories';
import type { SigningClaims } from '../../../src/messages/order';
import { formatAmount } from '../../../src/platform/money';
import { claimsOf } from '../../orders';
import { refuseAttempt } from '../../refusals';
import { auditOf } from '../screening/factors';
import {
  balances,
  begin,
  codeOf,
  ether,
  ethereum,
  include,
  registry,
  sign,
  usdc,
  usualFees,
  type Fixture,
} from '../ledger/fixture';
import { useFundedFixture } from './fixture';

let fixture: Fixture;
const { row, locked } = useFundedFixture((it) => (fixture = it));
const attemptsWithNonce = `select a.kind, r.resource as nonce
  from transfer_attempts a join attempt_reservations l using (tx_id, attempt) join reservations r using (reservation_id) order by a.attempt`;

describe('cancel and end', () => {
  test('before signing: unlocked, and a second call does nothing', async () => {
    const txId = await locked();
    expect(await fixture.ledger.cancelTransfer({ txId })).toEqual({ status: 'CANCELLED' });
    expect(await fixture.ledger.cancelTransfer({ txId })).toEqual({ status: 'CANCELLED' });
    await refuseAttempt(fixture.database, { txId });
    expect(await fixture.ledger.endTransfer({ txId })).toEqual({
      status: 'CANCELLED',
      code: null,
      reason: null,
    });
    expect(await balances(fixture, 'USDC')).toEqual([1000n * usdc, 0n]);
    expect(await balances(fixture, 'ETH')).toEqual([10n * ether, 0n]);
  });

  test('not without a refusal on record: nothing has changed', async () => {
    const txId = await locked();
    const before = await row(txId);
    await refuseAttempt(fixture.database, { txId, attempt: 2 });
    expect(await codeOf(fixture.ledger.endTransfer({ txId }))).toBe('not_cancellable');
    expect(await row(txId)).toEqual(before);
  });

  test('as the newest refusal says', async () => {
    const txId = await locked();
    await refuseAttempt(fixture.database, { txId }, { kind: 'order', code: 'stuck' });
    await refuseAttempt(fixture.database, { txId }, { kind: 'chain', code: 'would_revert', reason: 'no' });
    const end = { status: 'FAILED', code: 'would_revert', reason: 'no' };
    for (let times = 0; times < 2; times += 1) expect(await fixture.ledger.endTransfer({ txId })).toEqual(end);
    expect(await auditOf(fixture.database, 'transfer.refused', txId)).toEqual([]);
  });

  test('rejected by a rule, whatever else has refused it later', async () => {
    const txId = await locked();
    await refuseAttempt(fixture.database, { txId }, { kind: 'rule', code: 'wallet_not_active', reason: 'suspended' });
    await refuseAttempt(fixture.database, { txId }, { kind: 'chain', code: 'would_revert', reason: 'no' });
    const end = { status: 'REJECTED', code: 'wallet_not_active', reason: 'suspended' };
    for (let times = 0; times < 2; times += 1) expect(await fixture.ledger.endTransfer({ txId })).toEqual(end);
    expect(await auditOf(fixture.database, 'transfer.refused', txId)).toHaveLength(1);
  });

  test('rejected with its reason', async () => {
    const txId = await locked();
    await refuseAttempt(fixture.database, { txId }, { kind: 'rule', code: 'address_blacklisted', reason: 'no' });
    expect(await fixture.ledger.endTransfer({ txId })).toEqual({
      status: 'REJECTED',
      code: 'address_blacklisted',
      reason: 'no',
    });
    expect(await row(txId)).toMatchObject({ failureCode: 'address_blacklisted', failureMessage: 'no' });
    expect(await codeOf(fixture.ledger.cancelTransfer({ txId }))).toBe('not_cancellable');
  });

  test('parked before signing can still be cancelled', async () => {
    const txId = await locked();
    await fixture.ledger.parkTransfer({ txId, code: 'chain_unavailable', reason: 'down' });
    expect(await fixture.ledger.cancelTransfer({ txId })).toEqual({ status: 'CANCELLED' });
  });

  test('not once signing has begun', async () => {
    const txId = await locked();
    await begin(fixture, { txId, attempt: 1 });
    expect(await codeOf(fixture.ledger.cancelTransfer({ txId }))).toBe('not_cancellable');
    await refuseAttempt(fixture.database, { txId });
    expect(await codeOf(fixture.ledger.endTransfer({ txId }))).toBe('not_cancellable');
    await fixture.ledger.parkTransfer({ txId, code: 'signers_unavailable', reason: 'x' });
    expect(await codeOf(fixture.ledger.cancelTransfer({ txId }))).toBe('not_cancellable');
  });

  test('unknown transfers', async () => {
    expect(await codeOf(fixture.ledger.cancelTransfer({ txId: newId() }))).toBe('not_found');
  });
});

describe('signing', () => {
  test('reserves the nonce, and a retried call gets the same bytes, then the hash', async () => {
    const txId = await locked();
    const begun = await begin(fixture, { txId, attempt: 1 });
    expect(begun).toMatchObject({
      outcome: 'begun',
      kind: 'first',
      attempt: 1,
    });
    expect(await begin(fixture, { txId, attempt: 1, fees: { maxFeePerGas: 1n } })).toEqual(begun);
    if (begun.outcome !== 'begun') throw new Error();
    expect(claimsOf(begun.order)).toMatchObject({
      kind: 'transfer',
      tx_id: txId,
      attempt: 1,
      client_id: fixture.client.clientId,
      chain: ethereum.caip2,
      from: fixture.account.address,
      recipients: [{ amount: '10000000' }],
      max_fee: (usualFees.gasLimit * usualFees.maxFeePerGas).toString(),
      signers: [{ key_id: fixture.wallet.keyId, path: 'm/60/0', protocol: 'ecdsa-secp256k1', digests: [expect.any(String)] }],
    });
    const signatures = signAs(fixture.wallet, fixture.account, begun.unsigned);
    const { hash } = await fixture.ledger.recordSigned({ txId, attempt: 1, signatures });
    expect(await fixture.ledger.recordSigned({ txId, attempt: 1, signatures })).toEqual({ hash });
    expect(await auditOf(fixture.database, 'transfer.signed', txId)).toMatchObject([
      { outcome: 'success', actor_id: 'signing-nodes', detail: { attempt: 1, kind: 'first', tx_hash: hash } },
    ]);
    expect(await begin(fixture, { txId, attempt: 1 })).toEqual({ outcome: 'signed', attempt: 1, kind: 'first' });
    expect(await fixture.ledger.markSubmitted({ txId, attempt: 1 })).toEqual({ status: 'SUBMITTED' });
    expect(await row(txId)).toMatchObject({ status: 'SUBMITTED', txHash: hash });
  });

  test('refuses signatures of another key', async () => {
    const txId = await locked();
    const begun = await begin(fixture, { txId, attempt: 1 });
    if (begun.outcome !== 'begun') throw new Error();
    const stranger = await buildWallet(fixture.database, fixture.client);
    await expect(
      fixture.ledger.recordSigned({ txId, attempt: 1, signatures: signAs(stranger, fixture.account, begun.unsigned) }),
    ).rejects.toThrow();
  });

  test('takes nonces from the rows, not from the chain’s count; none for an account that the chain has seen more of', async () => {
    const [a, b, c] = await Promise.all([locked(), locked(), locked()]);
    await sign(fixture, a);
    await sign(fixture, b, 1, { minedNonce: 1 });
    const nonces = async () => {
      const rows = await fixture.database.query<{ tx_id: string; nonce: string }[]>(
        'select tx_id, ordinal as nonce from reservations order by ordinal',
      );
      return rows.map(({ tx_id, nonce }) => [tx_id, Number(nonce)]);
    };
    expect(await begin(fixture, { txId: c, attempt: 1, fees: { minedNonce: 3 } })).toMatchObject({
      outcome: 'wait',
      reason: expect.stringContaining('reports 3 transactions'),
    });
    expect((await row(c)).status).toBe('PENDING');
    expect(await nonces()).toEqual([
      [a, 0],
      [b, 1],
    ]);
    await sign(fixture, c, 1, { minedNonce: 2 });
    expect((await nonces()).at(-1)).toEqual([c, 2]);
  });

  test('locks more for a fee above the bound', async () => {
    const txId = await locked();
    const before = await row(txId);
    const maxFeePerGas = before.feeLocked / 65_000n + 1n;
    await sign(fixture, txId, 1, { maxFeePerGas });
    expect((await row(txId)).feeLocked).toBe(maxFeePerGas * 65_000n);
    expect((await balances(fixture, 'ETH'))[1]).toBe(maxFeePerGas * 65_000n);
    // and again for a replacement, though the state did not change
    await fixture.ledger.markSubmitted({ txId, attempt: 1 });
    await sign(fixture, txId, 2, { maxFeePerGas: maxFeePerGas * 2n });
    await sign(fixture, txId, 3, { maxFeePerGas: maxFeePerGas * 3n });
    expect((await balances(fixture, 'ETH'))[1]).toBe(maxFeePerGas * 3n * 65_000n);
  });

  test('refused when the account cannot lock more: nothing has changed, and it may end', async () => {
    const probe = await locked({ tokenSymbol: 'ETH', amount: '1' });
    const bound = (await row(probe)).feeLocked;
    await fixture.ledger.cancelTransfer({ txId: probe });
    const txId = await locked({ tokenSymbol: 'ETH', amount: formatAmount(10n * ether - 2n * bound, 18) });
    const before = await row(txId);
    const fees = { maxFeePerGas: (5n * bound) / 65_000n };
    expect(await begin(fixture, { txId, attempt: 1, fees })).toMatchObject({
      outcome: 'refused',
      code: 'fee_above_bound',
      reason: expect.stringContaining('cannot lock more'),
    });
    expect(await row(txId)).toEqual(before);
    expect(await fixture.ledger.endTransfer({ txId })).toEqual({
      status: 'FAILED',
      code: 'fee_above_bound',
      reason: expect.stringContaining('cannot lock more'),
    });
    expect(await begin(fixture, { txId, attempt: 1, fees })).toEqual({ outcome: 'ended', status: 'FAILED' });
  });

  test('waits when the fee is far above the stored levels, or more than twice the first attempt’s; nothing has changed', async () => {
    const txId = await locked();
    const before = await row(txId);
    const highest = (10n * before.feeLocked) / 65_000n;
    const tooHigh = { outcome: 'wait', reason: expect.stringContaining('usual is') };
    expect(await begin(fixture, { txId, attempt: 1, fees: { maxFeePerGas: highest + 1n } })).toMatchObject(tooHigh);
    expect(await row(txId)).toEqual(before);
    await sign(fixture, txId, 1, { maxFeePerGas: highest });
    // the levels fall: nodes still want a replacement to pay more than the first attempt
    await setFeeLevels(fixture.database, ethereum, { baseFee: 1n });
    expect(await begin(fixture, { txId, attempt: 2, fees: { maxFeePerGas: 2n * highest + 1n } })).toMatchObject(tooHigh);
    await sign(fixture, txId, 2, { maxFeePerGas: 2n * highest });
  });

  test('a replacement has the same nonce, recipient and amount', async () => {
    const txId = await locked();
    const first = await sign(fixture, txId);
    await fixture.ledger.markSubmitted({ txId, attempt: 1 });
    const second = await sign(fixture, txId, 2, { maxFeePerGas: 2_300_000_000n });
    expect(second).not.toBe(first);
    expect((await row(txId)).status).toBe('SUBMITTED');
    await fixture.ledger.markSubmitted({ txId, attempt: 2 });
    expect((await row(txId)).txHash).toBe(second);
    const attempts = await fixture.database.query<{ kind: string; nonce: string }[]>(attemptsWithNonce);
    expect(attempts).toEqual([
      { kind: 'first', nonce: '0' },
      { kind: 'replacement', nonce: '0' },
    ]);
  });

  test('a replacement that would be the same transaction is refused', async () => {
    const txId = await locked();
    await sign(fixture, txId);
    expect(await begin(fixture, { txId, attempt: 2, fees: { l1DataFee: 9n } })).toMatchObject({
      outcome: 'refused',
      code: 'stuck',
    });
  });

  describe('a cancellation', () => {
    const parked = async () => {
      const txId = await locked();
      await begin(fixture, { txId, attempt: 1 });
      await fixture.ledger.parkTransfer({ txId, code: 'intent_mismatch', reason: 'no' });
      await recordAbandonRequest(fixture.database.manager, { txId, attempt: 1, operator: 'test' });
      return txId;
    };
    const cancel = (txId: string, attempt = 2, maxFeePerGas = 2_300_000_000n) =>
      begin(fixture, { txId, attempt, kind: 'cancellation', fees: { gasLimit: 21_000n, maxFeePerGas } });

    test('needs a reason on record: the mark that a worker may set is none', async () => {
      const txId = await locked();
      await begin(fixture, { txId, attempt: 1 });
      await expect(fixture.ledger.abandonTransfer({ txId })).rejects.toThrow('abandoned by a cancellation');
      await fixture.database.query(`update transactions set cancellation_reason = 'abandoned' where tx_id = $1`, [txId]);
      expect(await cancel(txId)).toMatchObject({ outcome: 'refused', code: 'not_cancellable' });
    });

    test('has the transfer’s nonce and moves nothing, like its intent; a retried call gets the same bytes', async () => {
      const txId = await parked();
      const begun = await cancel(txId);
      if (begun.outcome !== 'begun') throw new Error(begun.outcome);
      const { address } = fixture.account;
      const { kind, unsigned, order } = begun;
      expect(kind).toBe('cancellation');
      const claims = claimsOf(order);
      expect(claims).toMatchObject({ kind, from: address, recipients: [{ address, token: null, amount: '0' }] });
      expect(getFamily('evm').describe(unsigned)).toMatchObject({ outputs: [{ amount: 0n, tokenContract: null }] });
      const { keyId, publicKey, chainCode } = fixture.wallet;
      if (!keyId || !publicKey || !chainCode) throw new Error('no key');
      const keys = new Map([[keyId, { publicKey, chainCode }]]);
      expect(verifyIntent(claims, unsigned, { registry, getFamily, keys }).payloads).toHaveLength(1);
      expect(await cancel(txId, 2, 9_900_000_000n)).toEqual(begun);
      expect(await row(txId)).toMatchObject({ status: 'SIGNING', failureCode: null });
    });

    test('is followed by cancellations only, all on one nonce', async () => {
      const txId = await parked();
      await cancel(txId);
      await sign(fixture, txId, 3, { maxFeePerGas: 2_600_000_000n, gasLimit: 21_000n });
      expect(await fixture.database.query(attemptsWithNonce)).toEqual([
        { kind: 'first', nonce: '0' },
        { kind: 'cancellation', nonce: '0' },
        { kind: 'cancellation', nonce: '0' },
      ]);
    });

    test('locks more, or is refused and leaves the transfer as it was', async () => {
      const txId = await parked();
      const before = await row(txId);
      expect(await cancel(txId, 2, ether)).toMatchObject({ outcome: 'refused', code: 'fee_above_bound' });
      expect(await row(txId)).toEqual(before);
      const maxFeePerGas = before.feeLocked / 21_000n + 1n;
      expect(await cancel(txId, 2, maxFeePerGas)).toMatchObject({ outcome: 'begun' });
      expect((await row(txId)).feeLocked).toBe(maxFeePerGas * 21_000n);
    });

    test('is refused once an attempt is included, and before there is a nonce', async () => {
      const txId = await locked();
      await expect(cancel(txId, 1)).rejects.toMatchObject({ code: 'invalid_parameter' });
      await sign(fixture, txId);
      await include(fixture, txId, 1, { debited: null });
      expect(await cancel(txId)).toMatchObject({ outcome: 'refused', code: 'business_error' });
    });
  });

  test('attempts come in order', async () => {
    const txId = await locked();
    await expect(begin(fixture, { txId, attempt: 2 })).rejects.toMatchObject({ code: 'invalid_parameter' });
  });

  test('parked and resumed: the same bytes, SIGNING again, no failure', async () => {
    const txId = await locked();
    const begun = await begin(fixture, { txId, attempt: 1 });
    await fixture.ledger.parkTransfer({ txId, code: 'signers_unavailable', reason: 'two nodes down' });
    for (let tries = 0; tries < 2; tries += 1)
      await fixture.ledger.parkTransfer({ txId, code: 'intent_mismatch', reason: 'refused' });
    expect(await auditOf(fixture.database, 'transfer.signing_refused', txId)).toMatchObject([
      { outcome: 'refused', actor_id: 'signing-nodes', detail: { code: 'intent_mismatch', reason: 'refused' } },
    ]);
    expect(await row(txId)).toMatchObject({ status: 'NEEDS_ATTENTION', failureCode: 'intent_mismatch', version: 2 });
    expect(await begin(fixture, { txId, attempt: 1 })).toEqual(begun);
    expect(await row(txId)).toMatchObject({ status: 'SIGNING', failureCode: null });
  });

  describe('resumed', () => {
    const begun = async () => {
      const txId = await locked();
      const first = await begin(fixture, { txId, attempt: 1 });
      if (first.outcome !== 'begun') throw new Error(first.outcome);
      return { txId, claims: claimsOf(first.order) };
    };
    const resumed = async (txId: string) => {
      const again = await begin(fixture, { txId, attempt: 1 });
      if (again.outcome !== 'begun') throw new Error(again.outcome);
      return claimsOf(again.order);
    };
    const insertOrder = (claims: object) =>
      fixture.database.query(
        `insert into orders (jti, seq, kind, tx_id, attempt, claims)
         select (c ->> 'jti')::uuid, (c ->> 'seq')::bigint, c ->> 'kind', (c ->> 'tx_id')::uuid, (c ->> 'attempt')::int, c
           from (values ($1::jsonb)) v (c)`,
        [JSON.stringify(claims)],
      );

    test('by the same order while it is good', async () => {
      const { txId, claims } = await begun();
      expect(await resumed(txId)).toEqual(claims);
    });

    test.each<[string, (claims: SigningClaims) => Partial<SigningClaims>]>([
      ['pays somebody else', ({ recipients }) => ({ recipients: recipients.map((it) => ({ ...it, address: randomAddress() })) })],
      ['is for another client', () => ({ client_id: newId() })],
      ['lives longer than any', ({ exp }) => ({ exp: exp + 1 })],
      ['a clock ahead has issued', ({ iat, exp }) => ({ iat: iat + 3600, exp: exp + 3600 })],
      ['another deployment has issued', () => ({ dep: 'another' })],
    ])('never by a stored order that %s', async (_, change) => {
      const { txId, claims } = await begun();
      const [issued] = await fixture.database.query<{ seq: string }[]>(`select nextval('order_numbers') as seq`);
      const forged = { ...claims, jti: newId(), seq: Number(issued?.seq), ...change(claims) };
      await insertOrder(forged);
      const { jti, seq, ...renewed } = await resumed(txId);
      expect([claims.jti, forged.jti]).not.toContain(jti);
      expect(seq).toBeGreaterThan(claims.seq);
      expect(renewed).toMatchObject({ recipients: claims.recipients, client_id: claims.client_id, dep: claims.dep });
      expect(renewed.iat).toBeLessThanOrEqual(Date.now() / 1000);
    });
  });
});

import { createHash } from 'node:crypto';
import { listAuditLog } from '../../../src/audit/list';
import { formatAmount } from '../../../src/platform/money';
import { activateWallet } from '../../../src/wallets/activate-wallet';
import { findExecutedAfterProof } from '../../../src/following/contradicted-ends';
import { newId } from '../../../src/platform/ids';
import { recordAbandonRequest } from '../../../src/transfers/operate/operator-requests';
import { reconcileReorg } from '../../../src/transfers/confirm/reconcile-reorg';
import { buildKey, signAs } from '../../factories';
import {
  balances,
  begin,
  codeOf,
  differences,
  ether,
  ethereum,
  fund,
  include,
  sign,
  usdc,
  type Fixture,
} from '../ledger/fixture';
import { abandonable } from './abandonable';
import { useFundedFixture } from './fixture';

let fixture: Fixture;
const { request, row, locked } = useFundedFixture((it) => (fixture = it));

describe('settle', () => {
  const submitted = async (changes: Parameters<typeof request>[0] = {}) => {
    const txId = await locked(changes);
    await sign(fixture, txId);
    await fixture.ledger.markSubmitted({ txId, attempt: 1 });
    return txId;
  };

  test('a token transfer: amount and real fee leave, the rest of the fee bound returns', async () => {
    const txId = await submitted();
    await include(fixture, txId, 1, { fee: 1_000n, debited: 10n * usdc });
    const confirmed = { status: 'CONFIRMED', code: null, reason: null };
    expect(await fixture.ledger.settleTransfer({ txId })).toEqual(confirmed);
    expect(await fixture.ledger.settleTransfer({ txId })).toEqual(confirmed);
    expect(await balances(fixture, 'USDC')).toEqual([990n * usdc, 0n]);
    expect(await balances(fixture, 'ETH')).toEqual([10n * ether - 1_000n, 0n]);
    expect(await row(txId)).toMatchObject({ fee: 1_000n, blockNumber: 7n });
  });

  test('a native transfer', async () => {
    const txId = await submitted({ tokenSymbol: 'ETH', amount: '2.5' });
    await include(fixture, txId, 1, { fee: 42n, debited: (5n * ether) / 2n });
    expect((await fixture.ledger.settleTransfer({ txId })).status).toBe('CONFIRMED');
    expect(await balances(fixture, 'ETH')).toEqual([(15n * ether) / 2n - 42n, 0n]);
  });

  test('reverted: refunded but for the fee, once that is final: another attempt could still take its place', async () => {
    const txId = await submitted();
    for (const depth of [1, ethereum.confirmations, ethereum.finalityDepth - 1]) {
      await include(fixture, txId, 1, { success: false, fee: 5_000n, depth });
      expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'WAITING' });
    }
    expect((await row(txId)).status).toBe('SUBMITTED');
    expect(await balances(fixture, 'USDC')).toEqual([990n * usdc, 10n * usdc]);
    await include(fixture, txId, 1, { success: false, fee: 5_000n, depth: ethereum.finalityDepth });
    expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'FAILED', code: 'reverted_on_chain' });
    expect(await balances(fixture, 'USDC')).toEqual([1000n * usdc, 0n]);
    expect(await balances(fixture, 'ETH')).toEqual([10n * ether - 5_000n, 0n]);
  });

  test('executed: not before the follower has scanned the confirmations that the transfer was accepted with', async () => {
    const txId = await submitted();
    const { requiredConfirmations } = await row(txId);
    for (const depth of [-1, 0, requiredConfirmations - 1]) {
      await include(fixture, txId, 1, { debited: 10n * usdc, depth });
      expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'WAITING' });
    }
    await include(fixture, txId, 1, { debited: 10n * usdc, depth: requiredConfirmations });
    expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
  });

  test('an inclusion in another block than the follower has at that height does not count', async () => {
    const txId = await submitted();
    const second = await sign(fixture, txId, 2, { maxFeePerGas: 2_300_000_000n });
    await include(fixture, txId, 1, { success: false });
    await fixture.database.query(`insert into chain_blocks (chain, number, hash, parent_hash) values ($1, 7, 'other', 'p')`, [
      ethereum.name,
    ]);
    expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'WAITING' });
    await include(fixture, txId, 2, { debited: 10n * usdc });
    await fixture.database.query(
      'update chain_blocks b set hash = a.block_hash from transfer_attempts a where a.tx_id = $1 and a.attempt = 2',
      [txId],
    );
    expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
    expect((await row(txId)).txHash).toBe(second);
  });

  describe('two attempts executed', () => {
    type Effect = Parameters<typeof include>[3];
    const final = { debited: 10n * usdc, fee: 1_000n };
    const settle = (txId: string) => fixture.ledger.settleTransfer({ txId });
    const attention = { status: 'NEEDS_ATTENTION', code: 'internal_error' };

    async function executedTwice(first: Effect, second: Effect, changes: Parameters<typeof request>[0] = {}) {
      const txId = await submitted(changes);
      const hash = await sign(fixture, txId, 2, { maxFeePerGas: 2_300_000_000n });
      await include(fixture, txId, 1, first);
      await include(fixture, txId, 2, second);
      return { txId, hash };
    }
    const frozen = async (txId: string) => {
      const [found] = await fixture.database.query<{ reasons: string[] }[]>(
        `select array_agg(distinct l.frozen_reason) as reasons from ledger_accounts l join transactions t using (account_id)
          where t.tx_id = $1 and l.chain = t.chain and l.symbol in (t.token_symbol, t.fee_symbol)`,
        [txId],
      );
      return found?.reasons;
    };

    const told = () => fixture.alerts.filter((it) => 'alert' in it && it.alert === 'transfer_executed_twice');

    test('nothing is posted before an operator was told, however deep both are; nothing leaves the account from then on', async () => {
      const { txId } = await executedTwice(final, final);
      expect(await settle(txId)).toMatchObject(attention);
      expect(await row(txId)).toMatchObject({ status: 'NEEDS_ATTENTION', failureCode: 'internal_error' });
      expect(await balances(fixture, 'USDC')).toEqual([990n * usdc, 10n * usdc]);
      expect(fixture.alerts[0]).toMatchObject({ alert: 'transfer_executed_twice', tx_id: txId });
      expect(await frozen(txId)).toEqual([`transfer ${txId} may have been executed twice`]);
    });

    test('the next time both are booked, as the chain shows them, and nothing more leaves the account', async () => {
      const { txId, hash } = await executedTwice(final, final);
      await settle(txId);
      expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
      expect(await balances(fixture, 'USDC')).toEqual([980n * usdc, 0n]);
      expect(await balances(fixture, 'ETH')).toEqual([10n * ether - 2_000n, 0n]);
      expect(await row(txId)).toMatchObject({ status: 'CONFIRMED', fee: 2_000n, failureCode: null });
      expect((await row(txId)).txHash).not.toBe(hash);
      expect(await frozen(txId)).toEqual([`transfer ${txId} may have been executed twice`]);
      expect(await differences(fixture)).toEqual([]);
      expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
      expect(await balances(fixture, 'USDC')).toEqual([980n * usdc, 0n]);
      expect(told()).toHaveLength(2);
    });

    test('a proof that was false contradicts its end no longer', async () => {
      const { txId } = await executedTwice(final, final);
      await fixture.database.query(
        `update transfer_attempts set impossible_proof = '{"type": "toy", "agreed_by": 2}' where tx_id = $1 and attempt = 2`,
        [txId],
      );
      await settle(txId);
      await settle(txId);
      expect(await differences(fixture)).toEqual([]);
      expect(await findExecutedAfterProof(fixture.database.manager, ethereum.name)).toEqual(new Map());
    });

    test.each<[string, Effect, Effect]>([
      ['one is not final', final, { ...final, depth: ethereum.finalityDepth - 1 }],
      ['not every endpoint shows that one has moved nothing', final, { ...final, debited: 0n, agreedBy: null }],
      ['not every endpoint shows that one was reverted', { success: false, agreedBy: null }, final],
    ])('while %s it stays parked, however often it is tried, and he is told once', async (_, first, second) => {
      const { txId } = await executedTwice(first, second);
      for (let times = 0; times < 3; times += 1) expect(await settle(txId)).toMatchObject(attention);
      expect(told()).toHaveLength(1);
      expect(await balances(fixture, 'USDC')).toEqual([990n * usdc, 10n * usdc]);
    });

    test('one of which he was told nothing: he is told first', async () => {
      const { txId } = await executedTwice(final, final);
      await settle(txId);
      await fixture.database.query(`update transfer_attempts set included_id = 'another' where tx_id = $1 and attempt = 2`, [
        txId,
      ]);
      expect(await settle(txId)).toMatchObject({ ...attention, reason: expect.stringContaining('another') });
      expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
    });

    test('what was reverted beside has cost its fee alone', async () => {
      const { txId, hash } = await executedTwice({ success: false, fee: 700n }, final);
      await settle(txId);
      expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
      expect(await row(txId)).toMatchObject({ txHash: hash, fee: 1_700n });
      expect(await balances(fixture, 'USDC')).toEqual([990n * usdc, 0n]);
      expect(await balances(fixture, 'ETH')).toEqual([10n * ether - 1_700n, 0n]);
      expect(await differences(fixture)).toEqual([]);
    });

    test.each<[string, Effect, bigint]>([
      ['that has moved nothing beside, as two endpoints show,', { debited: null, fee: 700n }, 0n],
      [
        'of which the recipient alone is shown to have got something',
        { debited: null, received: 9n * usdc, fee: 700n },
        9n * usdc,
      ],
    ])('one %s is booked as what it has moved, and the books agree', async (_, second, moved) => {
      const { txId } = await executedTwice(final, second);
      await settle(txId);
      expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
      expect(await balances(fixture, 'USDC')).toEqual([990n * usdc - moved, 0n]);
      expect(await differences(fixture)).toEqual([]);
    });

    test('the database takes the note that one is booked from the end alone, and keeps it', async () => {
      const { txId } = await executedTwice(final, final);
      const note = (isBooked: boolean, attempt: number) =>
        fixture.database.query('update transfer_attempts set is_booked = $3 where tx_id = $1 and attempt = $2', [
          txId,
          attempt,
          isBooked,
        ]);
      const refused = /booked by the end of its transaction alone/;
      const copied = `insert into transfer_attempts (tx_id, attempt, kind, chain, prepared, unsigned, signers, message_key, fee_bound, is_booked)
        select tx_id, 3, 'replacement', chain, prepared, unsigned, signers, 'another', 0, true from transfer_attempts where tx_id = $1 and attempt = 1`;
      await expect(fixture.database.query(copied, [txId])).rejects.toThrow(refused);
      await expect(note(true, 2)).rejects.toThrow(refused);
      await settle(txId);
      await settle(txId);
      await expect(note(true, 1)).rejects.toThrow(refused);
      await expect(note(false, 2)).rejects.toThrow(refused);
    });

    test('both reverted: it fails, refunded but for both fees', async () => {
      const { txId } = await executedTwice({ success: false, fee: 700n }, { success: false, fee: 1_000n });
      await settle(txId);
      expect(await settle(txId)).toMatchObject({ status: 'FAILED', code: 'reverted_on_chain' });
      expect(await balances(fixture, 'USDC')).toEqual([1000n * usdc, 0n]);
      expect(await balances(fixture, 'ETH')).toEqual([10n * ether - 1_700n, 0n]);
      expect(await differences(fixture)).toEqual([]);
    });

    test('more than the account has: the house has lost it, with an alert', async () => {
      const { txId } = await executedTwice(
        { ...final, debited: 600n * usdc },
        { ...final, debited: 600n * usdc },
        { amount: '600' },
      );
      await settle(txId);
      expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
      expect(await balances(fixture, 'USDC')).toEqual([0n, 0n]);
      expect(fixture.alerts).toContainEqual(expect.objectContaining({ alert: 'ledger_shortfall', tx_id: txId }));
      expect(await differences(fixture)).toEqual([]);
    });

    test('one transaction of the chain that carries out both is booked once', async () => {
      const { txId } = await executedTwice(final, final);
      await fixture.database.query(`update transfer_attempts set included_id = 'both', block_hash = 'one' where tx_id = $1`, [
        txId,
      ]);
      expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
      expect(await balances(fixture, 'USDC')).toEqual([990n * usdc, 0n]);
      expect(await differences(fixture)).toEqual([]);
    });
  });

  test('the replacement was executed, not the first', async () => {
    const txId = await submitted();
    const second = await sign(fixture, txId, 2, { maxFeePerGas: 2_300_000_000n });
    await include(fixture, txId, 2, { debited: 10n * usdc });
    await fixture.ledger.settleTransfer({ txId });
    expect((await row(txId)).txHash).toBe(second);
  });

  test('fee-on-transfer: what left is debited, the recipient’s shortfall told', async () => {
    const txId = await submitted();
    await include(fixture, txId, 1, { debited: 10n * usdc, received: 9n * usdc });
    expect(await fixture.ledger.settleTransfer({ txId })).toEqual({
      status: 'CONFIRMED',
      code: null,
      reason: 'The recipient got 9 of 10 USDC',
    });
    expect(await balances(fixture, 'USDC')).toEqual([990n * usdc, 0n]);
  });

  test('less left than asked: the rest returns', async () => {
    const txId = await submitted();
    await include(fixture, txId, 1, { debited: 4n * usdc });
    expect((await fixture.ledger.settleTransfer({ txId })).status).toBe('CONFIRMED');
    expect(await balances(fixture, 'USDC')).toEqual([996n * usdc, 0n]);
  });

  test.each([null, 0n])(
    'success without the payment (%s): nothing is unlocked before it is final; then FAILED, refunded but for the fee, and alerted',
    async (debited) => {
      const txId = await submitted();
      for (const depth of [ethereum.confirmations, ethereum.finalityDepth - 1]) {
        await include(fixture, txId, 1, { debited, fee: 5_000n, depth });
        expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'WAITING' });
      }
      expect(await balances(fixture, 'USDC')).toEqual([990n * usdc, 10n * usdc]);
      await include(fixture, txId, 1, { debited, fee: 5_000n });
      const failed = { status: 'FAILED', code: 'transfer_not_observed', reason: expect.stringContaining('without moving USDC') };
      for (let times = 0; times < 2; times += 1) expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject(failed);
      expect(await balances(fixture, 'USDC')).toEqual([1000n * usdc, 0n]);
      expect(await balances(fixture, 'ETH')).toEqual([10n * ether - 5_000n, 0n]);
      expect(fixture.alerts).toMatchObject([{ alert: 'transfer_not_observed', tx_id: txId }]);
    },
  );

  test('what fails is not unlocked before every configured endpoint has shown it; where there is one, it is unlocked if it was reverted', async () => {
    const txId = await submitted();
    await include(fixture, txId, 1, { success: false, agreedBy: null });
    expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'WAITING' });
    expect(await balances(fixture, 'USDC')).toEqual([990n * usdc, 10n * usdc]);
    await include(fixture, txId, 1, { success: false, agreedBy: 1 });
    expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'FAILED', code: 'reverted_on_chain' });
  });

  test('that a payment has moved nothing is not believed of one endpoint: an operator is asked until a second one shows it', async () => {
    const txId = await submitted();
    await include(fixture, txId, 1, { debited: null, agreedBy: null });
    expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'WAITING' });
    await include(fixture, txId, 1, { debited: null, agreedBy: 1 });
    const parked = { status: 'NEEDS_ATTENTION', code: 'transfer_not_observed', reason: expect.stringContaining('a second one') };
    for (let times = 0; times < 2; times += 1) expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject(parked);
    expect(await row(txId)).toMatchObject({ status: 'NEEDS_ATTENTION' });
    expect(await balances(fixture, 'USDC')).toEqual([990n * usdc, 10n * usdc]);
    await include(fixture, txId, 1, { debited: null, agreedBy: 2 });
    expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'FAILED' });
    expect(await balances(fixture, 'USDC')).toEqual([1000n * usdc, 0n]);
  });

  test('success of which the payment is seen before it is final: CONFIRMED', async () => {
    const txId = await submitted();
    await include(fixture, txId, 1, { debited: null, depth: ethereum.confirmations });
    expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'WAITING' });
    await include(fixture, txId, 1, { debited: 10n * usdc, depth: ethereum.confirmations });
    expect((await fixture.ledger.settleTransfer({ txId })).status).toBe('CONFIRMED');
  });

  test('what only the recipient is shown to have got has left the account', async () => {
    const txId = await submitted();
    await include(fixture, txId, 1, { debited: null, received: 10n * usdc });
    expect((await fixture.ledger.settleTransfer({ txId })).status).toBe('CONFIRMED');
    expect(await balances(fixture, 'USDC')).toEqual([990n * usdc, 0n]);
  });

  test('the database itself refuses the end of one as the other', async () => {
    const txId = await submitted();
    const end = (status: string) =>
      fixture.database.query(
        `update transactions t set status = $2, version = version + 1, tx_hash = a.included_id, block_number = a.block_number, block_hash = a.block_hash
           from transfer_attempts a where a.tx_id = t.tx_id and t.tx_id = $1`,
        [txId, status],
      );
    const refused = /without an on-chain result/;
    await include(fixture, txId, 1, { debited: 0n });
    await expect(end('CONFIRMED')).rejects.toThrow(refused);
    await include(fixture, txId, 1, { debited: 1n });
    await expect(end('FAILED')).rejects.toThrow(refused);
    for (const agreedBy of [null, 1]) {
      await include(fixture, txId, 1, { debited: null, agreedBy });
      await expect(end('FAILED')).rejects.toThrow(refused);
    }
    await include(fixture, txId, 1, { success: false, agreedBy: null });
    await expect(end('FAILED')).rejects.toThrow(refused);
    // only its postings are missing
    await include(fixture, txId, 1, { debited: null, agreedBy: 2 });
    await expect(end('FAILED')).rejects.not.toThrow(refused);
  });

  test('a native transfer of the whole balance is cancelled at a fee above its bound: what was to be moved pays for it', async () => {
    const { feeLocked: bound } = await row(await locked({ tokenSymbol: 'ETH', amount: '1' }));
    const whole = (await balances(fixture, 'ETH'))[0] - bound;
    const txId = await locked({ tokenSymbol: 'ETH', amount: formatAmount(whole, 18) });
    await sign(fixture, txId, 1, { gasLimit: 21_000n });
    await fixture.ledger.markSubmitted({ txId, attempt: 1 });
    expect((await balances(fixture, 'ETH'))[0]).toBe(0n);
    await abandonable(fixture, txId);
    const fees = { gasLimit: 21_000n, maxFeePerGas: (2n * bound) / 21_000n };
    const begun = await begin(fixture, { txId, attempt: 2, kind: 'cancellation', fees });
    if (begun.outcome !== 'begun') throw new Error(JSON.stringify(begun));
    expect(await fixture.ledger.beginSigning({ txId, lastAttempt: 2, kind: 'resume' })).toMatchObject({ outcome: 'begun' });
    await fixture.ledger.recordSigned({ txId, attempt: 2, signatures: signAs(fixture.wallet, fixture.account, begun.unsigned) });
    await fixture.ledger.markSubmitted({ txId, attempt: 2 });
    expect(await row(txId)).toMatchObject({ feeLocked: bound });
    const fee = (3n * bound) / 2n;
    await include(fixture, txId, 2, { fee, debited: 0n });
    expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'FAILED', code: 'abandoned' });
    expect((await balances(fixture, 'ETH'))[0]).toBe(whole + bound - fee);
    expect(fixture.alerts).toEqual([]);
  });

  test('a replacement of it at such a fee is refused: what is to be moved pays for no fee', async () => {
    const { feeLocked: bound } = await row(await locked({ tokenSymbol: 'ETH', amount: '1' }));
    const whole = (await balances(fixture, 'ETH'))[0] - bound;
    const txId = await locked({ tokenSymbol: 'ETH', amount: formatAmount(whole, 18) });
    await sign(fixture, txId, 1, { gasLimit: 21_000n });
    await fixture.ledger.markSubmitted({ txId, attempt: 1 });
    const fees = { gasLimit: 21_000n, maxFeePerGas: (2n * bound) / 21_000n };
    expect(await begin(fixture, { txId, attempt: 2, fees })).toMatchObject({ outcome: 'refused', code: 'fee_above_bound' });
  });

  test('a fee above what is locked is taken from what is there', async () => {
    const txId = await submitted();
    const fee = (await row(txId)).feeLocked + 77n;
    await include(fixture, txId, 1, { debited: 10n * usdc, fee });
    await fixture.ledger.settleTransfer({ txId });
    expect(await balances(fixture, 'ETH')).toEqual([10n * ether - fee, 0n]);
    expect(fixture.alerts).toEqual([]);
  });

  test('and what is not there is the house’s loss: posted, frozen, alerted', async () => {
    const txId = await submitted();
    await include(fixture, txId, 1, { debited: 10n * usdc, fee: 11n * ether });
    expect((await fixture.ledger.settleTransfer({ txId })).status).toBe('CONFIRMED');
    expect(await balances(fixture, 'ETH')).toEqual([0n, 0n]);
    const loss = await fixture.database.query(`select symbol, amount from ledger_entries where bucket = 'LOSS'`);
    expect(loss).toEqual([{ symbol: 'ETH', amount: (-ether).toString() }]);
    expect(fixture.alerts).toMatchObject([{ alert: 'ledger_shortfall', tx_id: txId, symbol: 'ETH', amount: ether.toString() }]);
    await fund(fixture, 'ETH', 5n * ether);
    expect(await codeOf(fixture.ledger.lockTransfer(request()))).toBe('business_error');
  });

  describe.each([
    ['USDC', '10', 1000n * usdc],
    ['ETH', '2.5', 10n * ether],
  ])('the cancellation of a released transfer of %s', (tokenSymbol, amount, had) => {
    const scannedTo = (block: number) =>
      fixture.database.query('update chain_cursors set next_block = $1 where chain = $2', [block + 1, ethereum.name]);
    const released = async () => {
      const txId = await submitted({ tokenSymbol, amount });
      const fees = { gasLimit: 21_000n, maxFeePerGas: 2_300_000_000n };
      await recordAbandonRequest(fixture.database.manager, { txId, attempt: 1, operator: 'test' });
      const begun = await begin(fixture, { txId, attempt: 2, kind: 'cancellation', fees });
      if (begun.outcome !== 'begun') throw new Error(begun.outcome);
      const signatures = signAs(fixture.wallet, fixture.account, begun.unsigned);
      const { hash } = await fixture.ledger.recordSigned({ txId, attempt: 2, signatures });
      await fixture.ledger.markSubmitted({ txId, attempt: 2 });
      return { txId, hash };
    };
    const final = 7 + ethereum.finalityDepth - 1;

    test('ends it once it is final: all but the fee is unlocked', async () => {
      const { txId, hash } = await released();
      await include(fixture, txId, 2, { fee: 700n, debited: 0n });
      for (const block of [6, 7, final - 1]) {
        await scannedTo(block);
        expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'WAITING' });
      }
      expect((await balances(fixture, tokenSymbol))[1]).not.toBe(0n);
      await scannedTo(final);
      for (let times = 0; times < 2; times += 1)
        expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'FAILED', code: 'abandoned' });
      expect(await balances(fixture, tokenSymbol)).toEqual([tokenSymbol === 'ETH' ? had - 700n : had, 0n]);
      expect(await balances(fixture, 'ETH')).toEqual([10n * ether - 700n, 0n]);
      expect(await row(txId)).toMatchObject({ txHash: hash, fee: 700n, failureCode: 'abandoned' });
      // mined again in another block: the books agree
      await include(fixture, txId, 2, { fee: 700n, debited: 0n });
      const log = { error: (alert: object) => void fixture.alerts.push(alert), warn: () => undefined };
      expect(await reconcileReorg({ database: fixture.database, log }, { txId })).toBe('stands');
      expect(fixture.alerts).toEqual([]);
    });

    test('gives way to an earlier attempt', async () => {
      const { txId } = await released();
      await include(fixture, txId, 1, { debited: tokenSymbol === 'ETH' ? (5n * ether) / 2n : 10n * usdc });
      expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
    });
  });

  describe('reorganised away after its end', () => {
    const standing = (txId: string) =>
      reconcileReorg(
        { database: fixture.database, log: { error: (alert: object) => void fixture.alerts.push(alert), warn: () => undefined } },
        { txId },
      );
    const gone = (txId: string) =>
      fixture.database.query(
        'update transfer_attempts set block_number = null, block_hash = null, included_id = null, success = null, fee = null, debited = null, received = null, agreed_by = null where tx_id = $1',
        [txId],
      );

    test('mined again at other fees: stands, and the books follow each time', async () => {
      const txId = await submitted();
      await include(fixture, txId, 1, { fee: 1_000n, debited: 10n * usdc });
      await fixture.ledger.settleTransfer({ txId });
      expect(await standing(txId)).toBe('stands');
      await gone(txId);
      expect(await standing(txId)).toBe('absent');
      for (const fee of [1_300n, 900n, 900n]) {
        await include(fixture, txId, 1, { fee, debited: 10n * usdc });
        expect(await standing(txId)).toBe('stands');
        expect(await standing(txId)).toBe('stands');
        expect(await balances(fixture, 'ETH')).toEqual([10n * ether - fee, 0n]);
      }
      expect(await balances(fixture, 'USDC')).toEqual([990n * usdc, 0n]);
      expect(fixture.alerts).toEqual([]);
    });

    test('refunded, and reverted again in another block: it stands there once every endpoint has shown that', async () => {
      const txId = await submitted();
      await include(fixture, txId, 1, { success: false, fee: 5_000n });
      await fixture.ledger.settleTransfer({ txId });
      await gone(txId);
      await include(fixture, txId, 1, { success: false, fee: 5_000n, agreedBy: null });
      expect(await standing(txId)).toBe('unagreed');
      await include(fixture, txId, 1, { success: false, fee: 6_000n, agreedBy: 1 });
      expect(await standing(txId)).toBe('stands');
      expect(await balances(fixture, 'ETH')).toEqual([10n * ether - 6_000n, 0n]);
    });

    test('refunded, and now executed: nothing is posted, the accounts are frozen', async () => {
      const txId = await submitted();
      await include(fixture, txId, 1, { success: false, fee: 5_000n });
      await fixture.ledger.settleTransfer({ txId });
      await gone(txId);
      await include(fixture, txId, 1, { fee: 5_000n, debited: 10n * usdc });
      expect(await standing(txId)).toBe('differs');
      expect(await balances(fixture, 'USDC')).toEqual([1000n * usdc, 0n]);
      expect(fixture.alerts).toMatchObject([{ alert: 'ended_transfer_changed', tx_id: txId }]);
      expect(await codeOf(fixture.ledger.lockTransfer(request()))).toBe('business_error');
    });
  });

  test('nothing to settle while nothing is included', async () => {
    const txId = await submitted();
    expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'WAITING' });
    expect((await row(txId)).status).toBe('SUBMITTED');
  });

  test('ended transfers ignore late messages', async () => {
    const txId = await submitted();
    await include(fixture, txId, 1, { debited: 10n * usdc });
    await fixture.ledger.settleTransfer({ txId });
    expect(await fixture.ledger.parkTransfer({ txId, code: 'stuck', reason: 'late' })).toEqual({ outcome: 'ended' });
    expect(await fixture.ledger.markSubmitted({ txId, attempt: 1 })).toEqual({ status: 'CONFIRMED' });
    expect(await fixture.ledger.endTransfer({ txId })).toEqual({
      status: 'CONFIRMED',
      code: null,
      reason: null,
    });
    expect(await begin(fixture, { txId, attempt: 2 })).toEqual({
      outcome: 'ended',
      status: 'CONFIRMED',
    });
    expect(await codeOf(fixture.ledger.cancelTransfer({ txId }))).toBe('not_cancellable');
    const timeline = await fixture.database.query<{ status: string }[]>(
      `select status from transaction_events where tx_id = $1 order by seq`,
      [txId],
    );
    expect(timeline.map(({ status }) => status)).toEqual(['PENDING', 'SIGNING', 'SUBMITTED', 'CONFIRMED']);
  });
});

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('wallet', () => {
  test('becomes active with its key, once', async () => {
    const walletId = newId();
    await fixture.database.query(`insert into wallets (wallet_id, client_id, wallet_name) values ($1, $2, 'w')`, [
      walletId,
      fixture.client.clientId,
    ]);
    const key = await buildKey(fixture.database, walletId);
    for (const attestations of [[], key.attestations.slice(1), [...key.attestations.slice(1), ...key.attestations.slice(1, 2)]])
      expect(await codeOf(activateWallet(fixture.database, { ...key, attestations }))).toBe('invalid_parameter');
    expect(await codeOf(activateWallet(fixture.database, { ...key, chainCode: `0x${'22'.repeat(32)}` }))).toBe(
      'invalid_parameter',
    );
    await activateWallet(fixture.database, key);
    await activateWallet(fixture.database, key);
    expect(await codeOf(activateWallet(fixture.database, { ...key, keyId: newId() }))).toBe('business_error');
    const [wallet] = await fixture.database.query<object[]>(
      'select status, key_status, key_id, length(public_key) as bytes from wallets where wallet_id = $1',
      [walletId],
    );
    expect(wallet).toEqual({ status: 'ACTIVE', key_status: 'ACTIVE', key_id: key.keyId, bytes: 33 });
    const events = await listAuditLog(fixture.database.manager, { subject: walletId, limit: 10 });
    expect(events).toEqual([
      expect.objectContaining({
        action: 'wallet.activated',
        actor_type: 'system',
        client_id: fixture.client.clientId,
        detail: { key_id: key.keyId, public_key_sha256: sha256(Buffer.from(key.publicKey.slice(2), 'hex')) },
      }),
    ]);
  });
});

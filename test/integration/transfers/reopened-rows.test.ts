import type { DataSource } from 'typeorm';
import { formatAmount } from '../../../src/platform/money';
import { findUnexecutedBefore } from '../../../src/transfers/line';
import { insertAttemptRows } from '../../inserted-attempts';
import { openDatabase } from '../../stack/database';
import { balances, begin, ethereum, type Fixture, include, prepared, sign } from '../ledger/fixture';
import { abandonable } from './abandonable';
import * as takenBack from './taken-back';
import { useFundedFixture } from './fixture';

/** What is allowed about ended transfers whose block is gone, by the rows alone. With a chain and workflows: reopened.test.ts. */

let fixture: Fixture;
const { row, locked } = useFundedFixture((it) => (fixture = it));

const small = () => locked({ amount: '1' });
const sent = async (txId: string): Promise<void> => {
  await sign(fixture, txId);
  await fixture.ledger.markSubmitted({ txId, attempt: 1 });
};
/** Ended by a block. */
const ends = async (txId: string, as: 'FAILED' | 'CONFIRMED'): Promise<string> => {
  await include(fixture, txId, 1, as === 'FAILED' ? { success: false } : { debited: 1_000_000n });
  expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: as });
  return txId;
};
const ended = async (as: 'FAILED' | 'CONFIRMED'): Promise<string> => {
  const txId = await small();
  await sent(txId);
  return ends(txId, as);
};
const finalise = (txId: string) => takenBack.finalise(fixture, txId);
const losesItsBlock = (txId: string) => takenBack.losesItsBlock(fixture, txId);
const reopened = async () => losesItsBlock(await finalise(await ended('FAILED')));
const failedByProof = async (): Promise<string> => {
  const txId = await small();
  await sent(txId);
  await abandonable(fixture, txId);
  await fixture.database.query(`update transfer_attempts set impossible_proof = '{"why":"test"}' where tx_id = $1`, [txId]);
  expect(await fixture.ledger.failByProof({ txId })).toMatchObject({ status: 'FAILED' });
  return txId;
};
const cancel = (txId: string, maxFeePerGas = 2_300_000_000n) =>
  begin(fixture, { txId, attempt: 2, kind: 'cancellation', fees: { gasLimit: 21_000n, maxFeePerGas } });
const before = (txId: string) => findUnexecutedBefore(fixture.database.manager, txId);

describe('a cancellation, which is all that begins after an end', () => {
  let login: DataSource;
  beforeEach(async () => {
    login = await openDatabase((await fixture.logins()).gateway_authoriser);
  });
  afterEach(() => login.destroy());
  const insert = (txId: string) =>
    insertAttemptRows(login, ethereum, {
      ...{ txId, attempt: 2, kind: 'cancellation' },
      prepared: prepared({ gasLimit: 21_000n, maxFeePerGas: 2_300_000_000n }),
    });

  test.each<[string, () => Promise<string>]>([
    ['what has failed in a final block, which stands', async () => finalise(await ended('FAILED'))],
    ['what has failed by proof, in no block', failedByProof],
    ['what is confirmed and has lost its block', async () => losesItsBlock(await ended('CONFIRMED'))],
    ['what was confirmed and final, and has lost its block', async () => losesItsBlock(await finalise(await ended('CONFIRMED')))],
  ])('is begun neither by the authoriser nor by its login of %s', async (_, build) => {
    const txId = await build();
    const { status } = await row(txId);
    expect(await cancel(txId)).toEqual({ outcome: 'ended', status });
    await expect(insert(txId)).rejects.toThrow('no open transaction');
    expect(await fixture.database.query('select from transfer_attempts where tx_id = $1', [txId])).toHaveLength(1);
  });

  test('is begun of what has failed in a final block that is gone, also where the login has inserted it', async () => {
    const txId = await reopened();
    await insert(txId);
    expect(await fixture.ledger.beginSigning({ txId, lastAttempt: 2, kind: 'resume' })).toMatchObject({
      outcome: 'begun',
      kind: 'cancellation',
    });
  });

  describe('may cost', () => {
    /** Somewhat more than its transfer had locked. */
    const dear = async (txId: string) => (await row(txId)).feeLocked / 21_000n + 1n;

    test('more than the transfer had locked, as far as its account has it available; nothing is locked for it', async () => {
      const txId = await reopened();
      const { feeLocked } = await row(txId);
      const had = await balances(fixture, 'ETH');
      expect(await cancel(txId, await dear(txId))).toMatchObject({ outcome: 'begun' });
      expect(await fixture.ledger.beginSigning({ txId, lastAttempt: 2, kind: 'resume' })).toMatchObject({ outcome: 'begun' });
      expect([await balances(fixture, 'ETH'), (await row(txId)).feeLocked]).toEqual([had, feeLocked]);
    });

    test('no more than that where the account has nothing left', async () => {
      const txId = await reopened();
      const probe = await locked({ tokenSymbol: 'ETH', amount: '1' });
      const { feeLocked } = await row(probe);
      await fixture.ledger.cancelTransfer({ txId: probe });
      const [available] = await balances(fixture, 'ETH');
      await locked({ tokenSymbol: 'ETH', amount: formatAmount(available - feeLocked, 18) });
      expect(await cancel(txId, await dear(txId))).toMatchObject({
        ...{ outcome: 'refused', code: 'fee_above_bound' },
        reason: expect.stringContaining('the account has 0 ETH available'),
      });
      expect(await cancel(txId, (await dear(txId)) - 1n)).toMatchObject({ outcome: 'begun' });
    });

    test('never more than the cap of the chain', async () => {
      const txId = await reopened();
      expect(await cancel(txId, ethereum.maxNetworkFee / 21_000n + 1n)).toMatchObject({
        outcome: 'refused',
        code: 'fee_above_bound',
      });
    });
  });
});

describe('what has ended and lost its block', () => {
  /** Two of one sender, the first one with this end, the second one sent. */
  const line = async (as: 'FAILED' | 'CONFIRMED') => {
    const [head, next] = [await small(), await small()];
    for (const txId of [head, next]) await sent(txId);
    return { head: await ends(head, as), next };
  };

  test('in a final block: the next one of the sender is not replaced before a block holds the cancellation', async () => {
    const { head, next } = await line('FAILED');
    expect(await before(next)).toBeUndefined();
    await losesItsBlock(await finalise(head));
    expect(await before(next)).toBe(head);
    const replace = () => begin(fixture, { txId: next, attempt: 2, fees: { maxFeePerGas: 3_000_000_000n } });
    expect(await replace()).toMatchObject({ outcome: 'refused', isFollowed: true, reason: expect.stringContaining(head) });
    expect(await cancel(head)).toMatchObject({ outcome: 'begun' });
    expect(await before(next)).toBe(head);
    await include(fixture, head, 2, { depth: 1 });
    expect(await before(next)).toBeUndefined();
    expect(await replace()).toMatchObject({ outcome: 'begun' });
  });

  test('and is confirmed: the next one waits for it too', async () => {
    const { head, next } = await line('CONFIRMED');
    expect(await before(next)).toBeUndefined();
    await losesItsBlock(head);
    expect(await before(next)).toBe(head);
  });

  test('keeps waiting nothing that is not sent yet, and nothing at all where it has ended without a block', async () => {
    await failedByProof();
    const next = await small();
    await sent(next);
    expect(await before(next)).toBeUndefined();
    await losesItsBlock(await finalise(await ends(next, 'FAILED')));
    // its own asset is frozen
    const other = await locked({ tokenSymbol: 'ETH', amount: '0.1' });
    expect(await begin(fixture, { txId: other, fees: { gasLimit: 21_000n } })).toMatchObject({ outcome: 'begun' });
  });
});

test('operators see why there is no cancellation yet', async () => {
  const txId = '01890000-0000-7000-8000-000000000000';
  const [chain, code] = [ethereum.name, 'fee_above_bound'] as const;
  await fixture.ledger.reportNotCancelled({ txId, chain, code, reason: 'too dear' });
  expect(fixture.alerts).toEqual([{ alert: 'reopened_not_cancelled', tx_id: txId, chain, code }]);
});

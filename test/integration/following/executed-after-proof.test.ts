import { verifyLedger } from '../../../src/ledger/verify';
import { Alarms } from '../../../src/platform/alarms';
import { correctReorged } from '../../../src/transfers/confirm/reconcile-reorg';
import { createToyFixture, type ToyFixture } from '../../toy-chain/fixture';
import { refuseAttempt } from '../../refusals';

/** What a node that lies, or a chain that undoes what was final, can bring about. */

let fixture: ToyFixture;
beforeEach(async () => {
  fixture = await createToyFixture();
});
afterEach(() => fixture.close());

const begin = async () => {
  const { transfer, sign, outside } = fixture;
  const txId = await transfer({ tokenSymbol: 'TOY', amount: '10', toAddress: outside });
  await sign(txId, 1);
  return txId;
};
const prove = (txId: string) =>
  fixture.database.query(`update transfer_attempts set impossible_proof = '{"kind": "false"}' where tx_id = $1`, [txId]);
const execute = async (txId: string, attempt: number) => {
  const [bytes] = (await fixture.attempts(txId)).filter((row) => row.attempt === attempt).map(({ signed }) => signed);
  fixture.toy.accept(bytes as never);
  fixture.toy.mine();
};

/** Follows once; returns the alerts. */
async function follow(): Promise<object[]> {
  const { options, client } = fixture;
  const alerts: object[] = [];
  const logger = Object.assign(Object.create(options.logger) as typeof options.logger, {
    child: () => logger,
    error: (details: object) => void alerts.push(details),
  });
  const { onConfirmedReorged } = options;
  await fixture.follow({
    logger,
    onConfirmedReorged: (txId) =>
      correctReorged({ ...options, client, logger, alarms: new Alarms(logger), onConfirmedReorged }, { txId }),
  });
  return alerts;
}

const frozen = async () =>
  (
    await fixture.database.query<{ frozen_reason: string | null }[]>(
      'select frozen_reason from ledger_accounts where account_id = $1',
      [fixture.alice.accountId],
    )
  )[0]?.frozen_reason;
const falseProofs = async () =>
  (await verifyLedger(fixture.database.manager)).filter(({ check }) => check.includes('false proof'));

test('a transfer that failed by proof and is executed all the same: alerted, frozen and found by the verification', async () => {
  const txId = await begin();
  await prove(txId);
  await refuseAttempt(fixture.database, { txId, attempt: 2 }, { code: 'expired' });
  expect(await fixture.ledger.failByProof({ txId })).toMatchObject({ status: 'FAILED' });
  expect(await follow()).toEqual([]);
  expect(await falseProofs()).toEqual([]);

  await execute(txId, 1);
  expect(await follow()).toEqual([
    { alert: 'impossible_attempt_executed' },
    expect.objectContaining({ alert: 'ended_transfer_changed' }),
  ]);
  expect(fixture.reorged).toEqual([txId]);
  expect(await frozen()).toMatch(txId);
  expect(await falseProofs()).toEqual([expect.objectContaining({ subject: `${txId} attempt 1 FAILED` })]);
  expect(await fixture.transaction(txId)).toMatchObject({ status: 'FAILED', block_hash: null });
});

test('a proof against an attempt that is included ends nothing: the transfer is settled', async () => {
  const txId = await begin();
  await execute(txId, 1);
  await follow();
  await prove(txId);
  await refuseAttempt(fixture.database, { txId, attempt: 2 }, { code: 'expired' });
  await expect(fixture.ledger.failByProof({ txId })).rejects.toMatchObject({ code: 'not_cancellable' });
  fixture.toy.mine();
  await follow();
  expect(await fixture.ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
  expect(await follow()).toEqual([]);
  expect(await verifyLedger(fixture.database.manager)).toEqual([]);
});

describe('executed although it was proven impossible, and issued again on that proof', () => {
  const settle = (txId: string) => fixture.ledger.settleTransfer({ txId });
  /** The first attempt is in a block, and the second one, which was issued since the first was "impossible", in none. */
  const reissued = async (depth = fixture.chain.finalityDepth) => {
    const txId = await begin();
    await prove(txId);
    fixture.toy.fee *= 2n;
    await fixture.sign(txId, 2, 'reissue');
    await execute(txId, 1);
    await fixture.mine(depth - 1);
    await follow();
    return txId;
  };
  /** As if it spent other outputs. `ahead`: blocks above the scanned ones; null: in the block of the first. */
  const includeSecond = (txId: string, ahead: number | null) =>
    fixture.database.query(
      `update transfer_attempts b set included_id = b.tx_hash, success = true, fee = a.fee, debited = a.debited, received = a.received, agreed_by = 2,
              block_number = coalesce(c.next_block + $2 - 1, a.block_number), block_hash = case when $2::bigint is null then a.block_hash else 'ahead' end
         from transfer_attempts a join chain_cursors c using (chain) where a.tx_id = b.tx_id and a.attempt = 1 and b.tx_id = $1 and b.attempt = 2`,
      [txId, ahead],
    );
  const told = (reason: RegExp) => ({ status: 'NEEDS_ATTENTION', code: 'internal_error', reason: expect.stringMatching(reason) });

  test('it does not end before the other one can be executed no more, about which the follower asks the chain', async () => {
    const txId = await reissued(fixture.chain.confirmations);
    for (let times = 0; times < 2; times += 1) expect(await settle(txId)).toMatchObject(told(/attempt 2 may be executed too$/));
    expect(await fixture.transaction(txId)).toMatchObject({ status: 'NEEDS_ATTENTION', ended_at: null });
    expect(await frozen()).toMatch(txId);
    await fixture.mine(fixture.chain.finalityDepth);
    await follow();
    expect(fixture.signals.at(-1)).toMatchObject({ txId, observation: { state: 'confirmed' } });
    expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
    expect(await verifyLedger(fixture.database.manager)).toEqual([]);
  });

  test('the other one is in a block that is not scanned yet: it is waited for, and both are booked', async () => {
    const txId = await reissued();
    const { available, locked } = await fixture.balance(fixture.alice, 'TOY');
    await includeSecond(txId, 1);
    expect(await settle(txId)).toMatchObject(told(/attempt 2 may be executed too$/));
    await includeSecond(txId, null);
    expect(await settle(txId)).toMatchObject(told(/^Two attempts/));
    expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
    const fee = BigInt((await fixture.transaction(txId)).fee as string);
    expect(await fixture.balance(fixture.alice, 'TOY')).toEqual({ available: available + locked - 20_000n - fee, locked: 0n });
    expect(await verifyLedger(fixture.database.manager)).toEqual([]);
  });

  test('one without a proof that is executed after the end is reported, in whatever block', async () => {
    const txId = await reissued();
    expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
    expect(await falseProofs()).toEqual([]);
    await fixture.database.query(`begin; set local session_replication_role = replica;
      update transfer_attempts set impossible_proof = null where attempt = 2; commit`);
    await includeSecond(txId, null);
    expect(await follow()).toContainEqual({ alert: 'impossible_attempt_executed' });
    expect(await frozen()).toMatch(txId);
    expect(await falseProofs()).toEqual([expect.objectContaining({ subject: `${txId} attempt 2 CONFIRMED` })]);
  });
});

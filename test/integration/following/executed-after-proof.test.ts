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

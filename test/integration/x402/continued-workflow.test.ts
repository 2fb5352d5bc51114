import { ApplicationFailure } from '@temporalio/common';
import { type Hex, keccak256 } from 'viem';
import { statusQuery } from '../../../src/messages/progress';
import { transferApprovedSignal } from '../../../src/messages/transfer';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { verifyLedger } from '../../../src/ledger/verify';
import { approvalInfo } from '../../sponsoring';
import { until } from '../transfers/served';
import { createSettlementFixture, ServedSettlements, type SettlementFixture } from './workflow-fixture';

/** Settlements whose history becomes long while they do not wait for the chain: they continue in a new run, and end there. */

jest.setTimeout(120_000);

/** More events than the run needs that takes over. */
const suggestContinueAfter = 200;
const served = new ServedSettlements(() => createSettlementFixture({ stuckAfterMs: 500 }), undefined, { suggestContinueAfter });
let fixture: SettlementFixture;
beforeEach(() => {
  fixture = served.fixture;
});

const handleOf = (txId: string) => served.client.workflow.getHandle(transferWorkflowId(txId));
const runOf = async (txId: string) => (await handleOf(txId).describe()).runId;

/** By signals that end no wait. */
const becomesLong = (txId: string) =>
  until('long', async () => {
    for (let count = 0; count < 5; count += 1) await handleOf(txId).signal(transferApprovedSignal);
    return (await handleOf(txId).describe()).historyLength > suggestContinueAfter;
  });

async function recordBoth(txId: string, first: string, name: string, end: string): Promise<void> {
  await served.record(transferWorkflowId(txId), `${name}-continued`, { runId: first });
  await served.record(transferWorkflowId(txId), end);
}

test('parked until its time is over: the new run cancels it', async () => {
  await served.serve({
    sign: ({ kind }) => {
      if (kind === 'settlement')
        throw ApplicationFailure.create({ type: 'intent_mismatch', message: 'another payment', nonRetryable: true });
    },
  });
  const txId = await served.settle(20);
  const first = await runOf(txId);
  await until('parked', async () => (await handleOf(txId).query(statusQuery)).step === 'park');
  await becomesLong(txId);
  await until('continued', async () => (await runOf(txId)) !== first);
  // not before it was long, however late the test looks
  const { historyLength } = await served.client.workflow.getHandle(transferWorkflowId(txId), first).describe();
  expect(historyLength).toBeGreaterThan(suggestContinueAfter);
  await until('abandoned', async () =>
    (await fixture.attempts(txId)).some(({ kind, broadcast_at: sent }) => kind === 'cancellation' && sent !== null),
  );
  await served.ends(txId, 'FAILED');
  expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'expired', cancellation_reason: 'expired' });
  expect(await verifyLedger(fixture.database.manager)).toEqual([]);
  await recordBoth(txId, first, 'settlement-parked', 'settlement-failed-parked-continued');
});

test('while the approval of its payer is waited for', async () => {
  let isWaiting = true;
  const waits = 'in no block';
  await served.serve({
    chain: {
      sendApproval: (input) =>
        isWaiting ? Promise.resolve({ outcome: 'waiting', reason: waits }) : fixture.onChain.sendApproval(input),
    },
  });
  const { signedTransaction: raw } = await approvalInfo({
    ...{ payer: fixture.payer, token: fixture.usdc.contract as Hex, chainId: 1 },
  });
  await fixture.send(fixture.payer, 10n ** 18n);
  await fixture.mine();
  const sponsoring = { type: 'approval', raw, id: keccak256(raw), nonce: 0, maxCost: 70_000n * 3_000_000_000n } as const;
  const txId = await served.settle(600, { sponsoring, topUp: 0n });
  const first = await runOf(txId);
  await until('asked', async () => (await handleOf(txId).query(statusQuery)).detail === waits);
  await becomesLong(txId);
  await until('continued', async () => (await runOf(txId)) !== first);
  isWaiting = false;
  await served.ends(txId, 'CONFIRMED');
  expect(await verifyLedger(fixture.database.manager)).toEqual([]);
  await recordBoth(txId, first, 'settlement-sponsored', 'settlement-confirmed-sponsored-continued');
});

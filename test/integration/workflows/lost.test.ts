import { ApplicationFailure } from '@temporalio/common';
import { listAuditLog } from '../../../src/audit/list';
import type { Hex } from '../../../src/chains/types';
import { contractArtifacts } from '../../../dev/contracts';
import { ChainRegistry } from '../../../src/chains/registry';
import { followChainWorkflowId, transferWorkflowId } from '../../../src/messages/workflow-ids';
import { WorkflowSweep } from '../../../src/monitoring/workflow-sweep';
import { metrics } from '../../../src/platform/metrics';
import { createTemporalClient } from '../../../src/platform/temporal-client';
import { restartLostFollowers } from '../../../src/processes/followers';
import { explain } from '../../explained';
import { buildTransferRequest } from '../../factories';
import { booksAgree, ServedWorkflows, until } from '../transfers/served';

jest.setTimeout(120_000);

/** Transactions whose workflow was ended by hand while they are open: found, told and mended, on a real Temporal server. */

const served = new ServedWorkflows();
let lines: Record<string, unknown>[];
let sweep: WorkflowSweep;
beforeEach(() => {
  lines = [];
  sweep = new WorkflowSweep(served.client, log);
});
const log = { warn: (line: unknown) => void lines.push(line as Record<string, unknown>) } as never;
const round = (it = sweep) => it.run(served.fixture.database.manager);

const counted = async () => {
  const { values } = (await metrics.getSingleMetric('gateway_transactions_without_workflow')?.get()) ?? { values: [] };
  return values.map(({ labels, value }) => ({ ...labels, value }));
};

/** Accepted six minutes ago, and its start is delivered. */
async function age(txId: string): Promise<void> {
  await served.fixture.database.transaction(async (manager) => {
    await manager.query('set local session_replication_role = replica');
    await manager.query(`update transactions set created_at = clock_timestamp() - interval '6 minutes' where tx_id = $1`, [txId]);
    await manager.query('delete from workflow_outbox where subject_id = $1', [txId]);
  });
}

const received = async (): Promise<bigint> => {
  const { fixture } = served;
  const { abi } = (await contractArtifacts()).TestUSDC;
  const address = fixture.chain.tokens.find(({ symbol }) => symbol === 'USDC')?.contract as Hex;
  const args = [fixture.bob.address as Hex] as const;
  return (await fixture.anvil.client.readContract({ address, abi, functionName: 'balanceOf', args })) as bigint;
};

/** Nothing reaches the chain while it is held. */
function holdingBroadcasts() {
  const hold = { isHeld: true };
  const broadcast = (input: never) => {
    if (hold.isHeld) throw ApplicationFailure.create({ type: 'chain_unavailable', message: 'away' });
    return served.fixture.onChain.broadcast(input);
  };
  return { hold, changes: { chain: { broadcast } } };
}

test('a transfer whose workflow was terminated: counted, logged once, listed and explained; started again it is paid once', async () => {
  const { hold, changes } = holdingBroadcasts();
  await served.serve(changes);
  const [txId, running] = [await served.submit({ amount: '3' }), await served.submit({ amount: '1' })];
  for (const id of [txId, running]) {
    await until('signing', async () => (await served.status(id)) === 'SIGNING');
    await age(id);
  }
  await round();
  expect([await counted(), lines]).toEqual([[], []]);

  await served.client.workflow.getHandle(transferWorkflowId(txId)).terminate('by hand');
  for (let i = 0; i < 2; i += 1) await round();
  const { chain } = served.fixture;
  expect(await counted()).toEqual([{ chain: chain.name, type: 'OUTBOUND', reason: 'terminated', value: 1 }]);
  expect(lines).toEqual([
    expect.objectContaining({
      ...{ alert: 'transfer_without_workflow', tx_id: txId, reason: 'terminated', status: 'SIGNING' },
      workflow_id: transferWorkflowId(txId),
    }),
  ]);
  const listed = await served.operations.listWithoutWorkflow(10);
  expect(listed).toMatchObject({ rows: [{ tx: { txId }, reason: 'terminated' }], isCut: false });
  const { database, client } = served.fixture;
  const report = await explain({ database, temporal: served.client, client, chains: [chain] }, txId);
  expect(report.state.why.join(' ')).toContain('its workflow is not running');
  expect(report.actions.map(({ command }) => command)).toEqual([`gateway transfers retry ${txId}`]);

  expect(await served.operations.retry(txId, 'terminated by mistake')).toBe('started again');
  const [act] = await listAuditLog(database.manager, { subject: txId, action: 'transfer.retried', limit: 10 });
  expect(act).toMatchObject({ outcome: 'success', detail: { status: 'SIGNING', stated_reason: 'terminated by mistake' } });
  await round();
  expect(await counted()).toEqual([]);
  expect((await served.operations.listWithoutWorkflow(10)).rows).toEqual([]);
  hold.isHeld = false;
  for (const id of [txId, running]) await served.ends(id, 'CONFIRMED');
  expect(await received()).toBe(4_000_000n);
  await booksAgree(served.fixture);
});

test('one that was accepted just now, one that has not started, and one that has ended are not found; one that Temporal has lost is', async () => {
  await served.serve();
  const young = await accept('0.01');
  const unstarted = await accept('0.02');
  const ended = await accept('0.03');
  const unknown = await accept('0.04');
  await age(ended);
  await served.fixture.ledger.cancelTransfer({ txId: ended });
  await age(unknown);
  await served.fixture.database.transaction(async (manager) => {
    await manager.query('set local session_replication_role = replica');
    await manager.query(`update transactions set created_at = clock_timestamp() - interval '1 hour' where tx_id = $1`, [
      unstarted,
    ]);
    await manager.query('delete from workflow_outbox where subject_id = $1', [young]);
  });
  await round();
  expect(lines.map(({ tx_id, reason }) => [tx_id, reason])).toEqual([[unknown, 'missing']]);
  // what ends without a workflow is no finding any more
  await served.fixture.ledger.cancelTransfer({ txId: unknown });
  await round();
  expect(await counted()).toEqual([]);
});

test('one that was redone, and is open again since the database was restored, is not started: it would pay a second time', async () => {
  await served.serve();
  const txId = await accept('0.05');
  const redone = await accept('0.05', `redo-${txId}`);
  await expect(served.operations.retry(txId)).rejects.toMatchObject({
    code: 'business_error',
    message: expect.stringContaining(redone),
  });
  expect(await served.operations.retry(redone)).toBe('started again');
  await served.ends(redone, 'CONFIRMED');
  expect(await served.status(txId)).toBe('PENDING');
});

const accept = async (amount: string, idempotencyKey: string | null = null): Promise<string> => {
  const { fixture } = served;
  const request = buildTransferRequest(fixture.alice, fixture.chain, {
    tokenSymbol: 'USDC',
    amount,
    toAddress: fixture.bob.address,
    idempotencyKey,
  });
  await fixture.ledger.lockTransfer(request);
  return request.txId;
};

test('a follower whose workflow was terminated is started again, and one that runs is left alone', async () => {
  const { chain } = served.fixture;
  const again = () => restartLostFollowers(served.client, new ChainRegistry([chain]), log);
  const follower = served.client.workflow.getHandle(followChainWorkflowId(chain.name));
  await again();
  const first = await follower.describe();
  await again();
  expect((await follower.describe()).runId).toBe(first.runId);
  await follower.terminate('by hand');
  lines = [];
  await again();
  try {
    const second = await follower.describe();
    expect([second.status.name, second.runId === first.runId]).toEqual(['RUNNING', false]);
    expect(lines).toEqual([{ chain: chain.name }]);
  } finally {
    // the workers of the next test would run it
    await follower.terminate();
  }
});

test('while Temporal does not answer the round fails, nothing is found, and what was found stays', async () => {
  await served.serve();
  const txId = await accept('0.01');
  await age(txId);
  const away = new WorkflowSweep(createTemporalClient({ TEMPORAL_ADDRESS: '127.0.0.1:1' }), log);
  await expect(round(away)).rejects.toThrow();
  expect([await counted(), lines]).toEqual([[], []]);
  await round();
  expect(await counted()).toMatchObject([{ reason: 'missing', value: 1 }]);
});

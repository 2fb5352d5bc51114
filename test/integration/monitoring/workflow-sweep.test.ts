import type { Client } from '@temporalio/client';
import { WorkflowSweep } from '../../../src/monitoring/workflow-sweep';
import { buildTransferRequest } from '../../factories';
import { createFixture, ethereum, ether, type Fixture, fund, usdc } from '../ledger/fixture';

/** In which order Temporal is asked about open transactions, and how many in a round. A server would not show it: here it is a list. */

const open = 130;
let fixture: Fixture;
let txIds: string[];
beforeEach(async () => {
  fixture = await createFixture();
  await fund(fixture, 'ETH', 100n * ether);
  await fund(fixture, 'USDC', 100n * usdc);
  txIds = [];
  for (let i = 0; i < open; i += 1) {
    const request = buildTransferRequest(fixture.account, ethereum, { tokenSymbol: 'USDC', amount: '0.01' });
    await fixture.ledger.lockTransfer(request);
    txIds.push(request.txId);
  }
  await fixture.database.transaction(async (manager) => {
    await manager.query('set local session_replication_role = replica');
    // in the order of their making, whatever the order of the update
    await manager.query(`update transactions set created_at = created_at - interval '1 hour'`);
    await manager.query('delete from workflow_outbox');
  });
});
afterEach(() => fixture.close());

/** A workflow service that remembers about what it was asked; `isFailing`: of these it gives no answer; `closed` have ended. */
function remembering(isFailing: (txId: string) => boolean = () => false, closed: readonly string[] = []) {
  const asked: string[] = [];
  const temporal = {
    connection: { withDeadline: (_deadline: number, call: () => Promise<unknown>) => call() },
    workflow: {
      getHandle: (workflowId: string) => ({
        describe: () => {
          const txId = workflowId.replace('transfer-', '');
          asked.push(txId);
          const status = { name: closed.includes(txId) ? 'TERMINATED' : 'RUNNING' };
          return isFailing(txId) ? Promise.reject(new Error('no answer')) : Promise.resolve({ status });
        },
      }),
    },
  } as unknown as Client;
  return { asked, sweep: new WorkflowSweep(temporal, { warn: () => undefined } as never) };
}

test('a hundred in a round, the oldest first, each in its turn, and then from the beginning', async () => {
  const { asked, sweep } = remembering();
  await sweep.run(fixture.database.manager);
  expect(asked).toEqual(txIds.slice(0, 100));
  await sweep.run(fixture.database.manager);
  expect(asked).toEqual(txIds);
  await sweep.run(fixture.database.manager);
  expect(asked.slice(open)).toEqual(txIds.slice(0, 100));
});

test('one of which there is never an answer keeps no other from its turn', async () => {
  const { asked, sweep } = remembering((txId) => txId === txIds[3]);
  await expect(sweep.run(fixture.database.manager)).rejects.toThrow('no answer');
  await sweep.run(fixture.database.manager);
  expect(new Set(asked)).toEqual(new Set(txIds));
});

test('one that was found and of which there is no answer afterwards keeps no other from its turn', async () => {
  const found = txIds[3] as string;
  let isSilent = false;
  const { asked, sweep } = remembering((txId) => isSilent && txId === found, [found]);
  await sweep.run(fixture.database.manager);
  isSilent = true;
  asked.length = 0;
  await expect(sweep.run(fixture.database.manager)).rejects.toThrow('no answer');
  expect(asked).toEqual([found, ...txIds.slice(100)]);
});

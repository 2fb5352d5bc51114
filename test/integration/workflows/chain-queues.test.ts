import { Context } from '@temporalio/activity';
import type { HeldTransfer } from '../../../src/messages/transfer';
import { mainTaskQueue } from '../../../src/messages/task-queues';
import * as ids from '../../../src/messages/workflow-ids';
import { chainWorkers } from '../../../src/processes/chain-workers';
import { until } from '../transfers/served';
import { ServedActivities } from './served';
import { followedTransfer } from './stand-ins';

/** The two workers of a chain, with the queues and slots that a worker process gives them. */

jest.setTimeout(120_000);

const served = new ServedActivities();
/** More than the slots for transfers. */
const waiting = 25;

test('transfers that all wait for an answer of their chain leave its follower slots of its own, and one for the run that takes over', async () => {
  const { workflow } = served.temporal.client;
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  let asked = 0;
  /** Ids of workflows: what is tried again is the same one. */
  const following = new Set<string>();
  const observe = async () => {
    asked += 1;
    await answered;
    throw new Error('of a test');
  };
  const followChain = async () => {
    const { info, heartbeat } = Context.current();
    following.add(info.workflowExecution?.workflowId ?? '');
    // without one for 8 s it counts as dead
    const beating = setInterval(heartbeat, 1_000);
    await answered.finally(() => clearInterval(beating));
    return { nextBlock: 1 };
  };
  const unused = () => Promise.reject(new Error('nobody asks for it'));
  const transfers = { observe, prepareAttempt: unused, broadcast: unused, sendApproval: unused };
  const transfer: HeldTransfer = { ...followedTransfer, isUnsigned: true };
  await served.serve(mainTaskQueue, { adoptHold: () => ({ outcome: 'held', transfer }) }, { runsWorkflows: true });
  for (const { taskQueue = '', activities, ...slots } of chainWorkers(transfer.chain, { transfers, follower: { followChain } }))
    await served.serve(taskQueue, activities as never, slots);

  const started: string[] = [];
  const start = async (type: string, workflowId: string, input: object) => {
    await workflow.start(type, { workflowId, taskQueue: mainTaskQueue, args: [input] });
    started.push(workflowId);
  };
  try {
    for (let count = 0; count < waiting; count += 1) {
      const txId = `0190b5a4-0000-7000-8000-0000000000${count + 10}`;
      await start(ids.workflowTypes.transfer, ids.transferWorkflowId(txId), { txId });
    }
    await until('the slots for transfers are taken', () => Promise.resolve(asked >= 20));
    for (const run of ['', '-taking-over']) {
      const workflowId = `${ids.followChainWorkflowId(transfer.chain)}${run}`;
      await start(ids.workflowTypes.followChain, workflowId, { chain: transfer.chain });
    }
    await until('both follow', () => Promise.resolve(following.size === 2));
    expect(asked).toBe(20);
  } finally {
    answer();
    await Promise.all(started.map((workflowId) => workflow.getHandle(workflowId).terminate()));
  }
});

import { AsyncLocalStorage } from 'node:async_hooks';
import { Client } from 'pg';
import { chainTaskQueue, mainTaskQueue } from '../../../src/messages/task-queues';
import type { ChainObservation, HeldTransfer } from '../../../src/messages/transfer';
import { transferWorkflowId, workflowTypes } from '../../../src/messages/workflow-ids';
import { observationSignaller } from '../../../src/transfers/start/workflows';
import { createFundedFixture, ServedChain, until } from '../transfers/served';
import { createSettlementFixture, ServedSettlements } from '../x402/workflow-fixture';
import { ServedActivities } from './served';
import { followedTransfer } from './stand-ins';

/** What the run of a transaction costs where nothing goes wrong, in counts, which are printed as JSON: docs/performance.md has them. */

jest.setTimeout(120_000);

/** Nothing is asked for, or replaced, before it is told. */
const stuckAfterMs = 60_000;
/** One that the chain takes at once, and that is deep enough in its second block. */
const limits = { events: 39, workflowTasks: 6 };

/** Statements of the worker, which are those that its activities make. */
const worker = new AsyncLocalStorage<Call>();
interface Call {
  activity: string;
  statements: number;
}
const query = Reflect.get(Client.prototype, 'query') as (...given: unknown[]) => unknown;
jest.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...given: unknown[]) {
  const counted = worker.getStore();
  if (counted) counted.statements += 1;
  return query.apply(this, given);
});

/** `calls`: gets one for each call of an activity. */
function counted<T extends object>(activities: T, calls: Call[]): T {
  const wrapped = Object.entries(activities).map(([activity, run]: [string, (input: unknown) => unknown]) => [
    activity,
    (input: unknown) => {
      const call = { activity, statements: 0 };
      calls.push(call);
      return worker.run(call, () => run(input));
    },
  ]);
  return Object.fromEntries(wrapped) as T;
}

type Served = Pick<ServedChain<Awaited<ReturnType<typeof createFundedFixture>>>, 'serve' | 'fixture' | 'status' | 'client'>;

/** Carries one out, block by block, with the follower's signals. */
async function costsOf(what: string, served: Served, submit: () => Promise<string>) {
  const { fixture, client } = served;
  const calls: Call[] = [];
  Object.assign(fixture.onChain, counted(fixture.onChain, calls));
  await served.serve({ ledger: counted(fixture.ledger, calls) });
  const txId = await submit();
  const becomes = (status: string) => until(`it is ${status}`, async () => (await served.status(txId)) === status);
  await becomes('SUBMITTED');
  for (let block = 0; block < fixture.chain.confirmations; block += 1) {
    await fixture.mine();
    await fixture.follow({ signalTransfer: observationSignaller(client) });
  }
  await becomes('CONFIRMED');
  const handle = client.workflow.getHandle(transferWorkflowId(txId));
  await handle.result();
  const events = (await handle.fetchHistory()).events ?? [];
  const tasks = events.filter(({ workflowTaskCompletedEventAttributes: completed }) => completed);
  const costs = {
    ...{ events: events.length, workflowTasks: tasks.length },
    statements: calls.reduce((sum, { statements }) => sum + statements, 0),
  };
  const eventNames = events.map((event) => Object.keys(event).find((name) => name.endsWith('EventAttributes')) ?? 'unknown');
  const by_event = tally(eventNames.map((name) => name.replace('EventAttributes', '')));
  process.stdout.write(`${JSON.stringify({ costs_of: what, ...costs, by_activity: calls, by_event })}\n`);
  return costs;
}

/** How often there is each. */
function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

type Costs = Awaited<ReturnType<typeof costsOf>>;

/** What is more than its limit. */
const above = (costs: Costs, allowed: Costs) =>
  Object.entries(costs).filter(([what, count]) => count > allowed[what as keyof Costs]);

describe('a transfer', () => {
  const served = new ServedChain(() => createFundedFixture(stuckAfterMs));

  test('stays within its events, workflow tasks and statements', async () => {
    const toAddress = served.fixture.bob.address;
    const costs = await costsOf('a transfer', served, () => served.submit({ tokenSymbol: 'USDC', amount: '5', toAddress }));
    expect(above(costs, { ...limits, statements: 27 })).toEqual([]);
  });
});

describe('transfers on a chain with a block every 12 seconds', () => {
  const served = new ServedChain(() => createFundedFixture(stuckAfterMs, { blockTimeMs: 12_000 }));

  test('are not asked for while their confirmation is on its way: the follower tells them', async () => {
    const { fixture, client } = served;
    let asked = 0;
    const observe = (input: { txId: string }) => {
      asked += 1;
      return fixture.onChain.observe(input);
    };
    await served.serve({ chain: { observe } });
    const toAddress = fixture.bob.address;
    const txIds: string[] = [];
    for (let count = 0; count < 5; count += 1) txIds.push(await served.submit({ tokenSymbol: 'USDC', amount: '1', toAddress }));
    for (const txId of txIds) await until('sent', async () => (await served.status(txId)) === 'SUBMITTED');
    await new Promise((resolve) => setTimeout(resolve, 18_000));
    await fixture.mine(fixture.chain.confirmations);
    await fixture.follow({ signalTransfer: observationSignaller(client) });
    for (const txId of txIds) await client.workflow.getHandle(transferWorkflowId(txId)).result();
    expect(asked).toBe(0);
  });
});

describe('a transfer of which no signal comes', () => {
  const served = new ServedActivities();

  test('is asked for once its time without inclusion is over, and, in a block by then, not again while its confirmation is on its way', async () => {
    const transfer: HeldTransfer = { ...followedTransfer, stuckAfterMs: 1_500 };
    const included: ChainObservation = { state: 'included', hash: '0x01', blockNumber: 1, confirmations: 1 };
    const askedAt: number[] = [];
    const observe = () => {
      askedAt.push(Date.now());
      return included;
    };
    await served.serve(mainTaskQueue, { adoptHold: () => ({ outcome: 'held', transfer }) }, { runsWorkflows: true });
    await served.serve(chainTaskQueue(transfer.chain), { observe });
    const txId = '0190b5a4-0000-7000-8000-0000000000e2';
    const startedAt = Date.now();
    const run = await served.temporal.client.workflow.start(workflowTypes.transfer, {
      ...{ workflowId: transferWorkflowId(txId), taskQueue: mainTaskQueue, args: [{ txId }] },
    });
    try {
      await until('asked', () => Promise.resolve(askedAt.length > 0));
      expect((askedAt[0] ?? 0) - startedAt).toBeGreaterThanOrEqual(transfer.stuckAfterMs);
      await new Promise((resolve) => setTimeout(resolve, 4 * transfer.stuckAfterMs));
      expect(askedAt).toHaveLength(1);
    } finally {
      await run.terminate();
    }
  });
});

describe('a settlement', () => {
  const served = new ServedSettlements(() => createSettlementFixture({ stuckAfterMs }));

  test('stays within the same, and the statements that charge its settler', async () => {
    const costs = await costsOf('a settlement', served, () => served.settle(600));
    expect(above(costs, { ...limits, statements: 34 })).toEqual([]);
  });
});

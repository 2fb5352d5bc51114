import { AsyncLocalStorage } from 'node:async_hooks';
import { Client } from 'pg';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { observationSignaller } from '../../../src/transfers/start/workflows';
import { createFundedFixture, ServedChain, until } from '../transfers/served';
import { createSettlementFixture, ServedSettlements } from '../x402/workflow-fixture';

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

describe('a settlement', () => {
  const served = new ServedSettlements(() => createSettlementFixture({ stuckAfterMs }));

  test('stays within the same, and the statements that charge its settler', async () => {
    const costs = await costsOf('a settlement', served, () => served.settle(600));
    expect(above(costs, { ...limits, statements: 34 })).toEqual([]);
  });
});

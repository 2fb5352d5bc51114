import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { withMappedErrors } from '../../../activities/errors';
import { chainTaskQueue, mainTaskQueue, type ChainActivities, type LedgerActivities } from '../../../activities/types';
import { findTemporalCli } from '../../../src/main/dev/temporal-cli';
import { nodeIndexes, nodeTaskQueue, type SignTransactionRequest } from '../../../src/mpc/messages';
import { TransferOperations } from '../../../src/operations/transfers';
import { transferWorkflowsOn } from '../../../src/transfers/workflows';
import { observedSignal, searchAttributes, transferWorkflowId } from '../../../workflows/messages';
import { buildTransferRequest, signAs } from '../../factories';
import { createFollowBench, type FollowBench } from '../following/bench';

jest.setTimeout(120_000);

const ether = 10n ** 18n;
const silent = { child: () => silent, warn() {}, error() {}, info() {} } as never;

let temporal: TestWorkflowEnvironment;
let workflowBundle: Awaited<ReturnType<typeof bundleWorkflowCode>>;
let bench: FollowBench;
let workers: { worker: Worker; done: Promise<void> }[];

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const logger = new DefaultLogger('ERROR');
  [temporal, workflowBundle] = await Promise.all([
    TestWorkflowEnvironment.createLocal({
      server: {
        executable: { type: 'existing-path', path: await findTemporalCli(() => undefined) },
        searchAttributes: Object.values(searchAttributes),
      },
    }),
    bundleWorkflowCode({ workflowsPath: require.resolve('../../../workflows/index'), logger }),
  ]);
});
afterAll(() => temporal.teardown());

beforeEach(async () => {
  bench = await createFollowBench({ stuckAfterMs: 500 });
  await bench.send(bench.alice, ether);
  await bench.mint(bench.alice, 5_000_000n);
  await bench.mine(4);
  await bench.follow();
});
afterEach(async () => {
  for (const { worker } of workers) worker.shutdown();
  await Promise.all(workers.map(({ done }) => done));
  await bench.close();
});

/** Real rows, real chain, real workflows; what a test wants to go wrong is replaced. */
async function serve(changes: { ledger?: Partial<LedgerActivities>; chain?: Partial<ChainActivities>; sign?: () => void } = {}) {
  const signTransaction = ({ unsigned }: SignTransactionRequest) => {
    changes.sign?.();
    return Promise.resolve({ signatures: signAs(bench.wallet, bench.alice, unsigned) });
  };
  const common = { connection: temporal.nativeConnection, namespace: temporal.namespace, shutdownGraceTime: 100 };
  const created = await Promise.all([
    Worker.create({
      ...common,
      workflowBundle,
      taskQueue: mainTaskQueue,
      activities: withMappedErrors({ ...bench.ledger, ...changes.ledger }, silent),
    }),
    Worker.create({
      ...common,
      taskQueue: chainTaskQueue(bench.chain.name),
      activities: withMappedErrors({ ...bench.onChain, ...changes.chain }, silent),
    }),
    ...nodeIndexes.map((node) =>
      Worker.create({ ...common, taskQueue: nodeTaskQueue(node), activities: withMappedErrors({ signTransaction }, silent) }),
    ),
  ]);
  workers = created.map((worker) => ({ worker, done: worker.run() }));
}

const client = (): Client => temporal.client;
const operations = () => new TransferOperations(bench.database, client());
const status = async (txId: string) => String((await bench.transaction(txId)).status);

async function submit(changes: Parameters<typeof buildTransferRequest>[2] = {}): Promise<string> {
  const request = buildTransferRequest(bench.alice, bench.chain, {
    tokenSymbol: 'USDC',
    amount: '5',
    toAddress: bench.bob.address,
    ...changes,
  });
  await transferWorkflowsOn(client()).submit(request);
  return request.txId;
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 50))) {
    if (await holds()) return;
  }
  throw new Error(`not reached: ${what}`);
}

/** Mines and follows, like the follower would, until the transfer has ended. */
async function confirmed(txId: string): Promise<void> {
  await until(`${txId} is confirmed`, async () => {
    await bench.mine();
    await bench.follow();
    return (await status(txId)) === 'CONFIRMED';
  });
  const { available, locked } = await bench.balance(bench.alice, 'USDC');
  expect([available, locked]).toEqual([0n, 0n]);
}

const historyLength = async (txId: string) =>
  (await client().workflow.getHandle(transferWorkflowId(txId)).describe()).historyLength;

test('the first attempt is executed while a replacement is prepared: settled, and not a failed run with locked funds', async () => {
  await serve({
    chain: {
      prepareFees: async (input) => {
        // the whole balance leaves: the chain would now refuse a second transfer of it
        if (input.attempt === 2) await bench.mine(2);
        return bench.onChain.prepareFees(input);
      },
    },
  });
  const txId = await submit();
  await until('a second attempt', async () => (await bench.attempts(txId)).length > 1);
  await confirmed(txId);
});

test('a step that refuses for good parks the transfer; a retry goes on', async () => {
  let refusals = 1;
  await serve({
    chain: {
      observe: async (input) => {
        if (refusals-- > 0) throw ApplicationFailure.create({ type: 'not_found', message: 'gone', nonRetryable: true });
        return bench.onChain.observe(input);
      },
    },
  });
  const txId = await submit();
  await until('parked', async () => (await status(txId)) === 'NEEDS_ATTENTION');
  expect(await operations().retry(txId)).toBe('retrying');
  await confirmed(txId);
});

test.each([
  ['before its nonce is taken', 'prepareFees' as const],
  ['before it is broadcast', 'broadcast' as const],
  ['while it is watched', 'observe' as const],
])('terminated %s: an operator’s retry starts it again and money moves once', async (_, step) => {
  let block = true;
  const hold = (name: typeof step) => async (input: never) => {
    if (block && name === step) throw ApplicationFailure.create({ type: 'chain_unavailable', message: 'away' });
    return (bench.onChain[name] as (it: never) => Promise<never>)(input);
  };
  await serve({ chain: { prepareFees: hold('prepareFees'), broadcast: hold('broadcast'), observe: hold('observe') } });
  const txId = await submit();
  const handle = client().workflow.getHandle(transferWorkflowId(txId));
  const expected = { prepareFees: 'PENDING', broadcast: 'SIGNING', observe: 'SUBMITTED' }[step];
  await until(expected, async () => (await status(txId)) === expected);
  await expect(operations().retry(txId)).rejects.toMatchObject({ code: 'business_error' });
  await handle.terminate();
  block = false;
  expect(await operations().retry(txId)).toBe('started again');
  await confirmed(txId);
  await expect(operations().retry(txId)).rejects.toMatchObject({ code: 'business_error' });
  const postings = await bench.database.query<{ kind: string }[]>(`select kind from ledger_postings where tx_id = $1`, [txId]);
  expect(postings.map(({ kind }) => kind).sort()).toEqual(['lock', 'settle']);
});

test('Temporal’s own cancellation does not leave funds locked', async () => {
  await serve();
  const txId = await submit();
  await client().workflow.getHandle(transferWorkflowId(txId)).cancel();
  await confirmed(txId);
});

test('old news does not keep a parked transfer from waiting', async () => {
  let refuse = true;
  await serve({
    sign: () => {
      if (refuse) throw ApplicationFailure.create({ type: 'intent_mismatch', message: 'no', nonRetryable: true });
    },
  });
  const txId = await submit();
  await until('parked', async () => (await status(txId)) === 'NEEDS_ATTENTION');
  // a reorganisation was told while nobody asked: it stays in the queue until confirmation
  const handle = client().workflow.getHandle(transferWorkflowId(txId));
  await handle.signal(observedSignal, { state: 'absent', hash: null, blockNumber: null, confirmations: 0 });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const before = await historyLength(txId);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await historyLength(txId)).toBe(before);
  refuse = false;
  await operations().retry(txId);
  await confirmed(txId);
});

test('bytes that the node refuses after a retry too are replaced at the fees of then', async () => {
  const refused: number[] = [];
  await serve({
    chain: {
      broadcast: async (input) => {
        if (input.attempt > 1) return bench.onChain.broadcast(input);
        refused.push(input.attempt);
        return { outcome: 'rejected', reason: 'transaction underpriced' };
      },
      observe: async (input) => {
        const attempts = await bench.attempts(input.txId);
        if (attempts.length > 1) return bench.onChain.observe(input);
        return { state: 'absent', hash: null, blockNumber: null, confirmations: 0 };
      },
    },
  });
  const txId = await submit();
  await until('parked', async () => (await status(txId)) === 'NEEDS_ATTENTION');
  await operations().retry(txId);
  await confirmed(txId);
  expect(refused).toHaveLength(2);
});

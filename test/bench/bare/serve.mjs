// Starts and carries out bare workflows, in a process of its own: as the worker, the authoriser and a node do, without their work.
// Arguments: Temporal's address and namespace. Lines of JSON on standard input: {count, inFlight}; for each a line {seconds, ms}: for all, and
// from start to end of each. A block is made every second: what was sent before it is deep enough in the next one, as on the local chain.
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';

const [address, namespace] = process.argv.slice(2);
const blockTimeMs = 1_000;
const keyword = (name) => defineSearchAttributeKey(name, 'KEYWORD');
const keys = { client: keyword('ClientId'), tx: keyword('TxId'), chain: keyword('Chain'), token: keyword('TokenSymbol') };

Runtime.install({
  shutdownSignals: [],
  logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error },
});
const connection = await NativeConnection.connect({ address });
const client = new Client({ connection: await Connection.connect({ address }), namespace });

let sent = [];
let inBlock = [];
const ended = new Map();
const step = async (txId) => txId;
const common = { connection, namespace };
const workers = await Promise.all([
  Worker.create({
    ...common,
    taskQueue: 'bare',
    workflowsPath: fileURLToPath(new URL('workflow.ts', import.meta.url)),
    activities: {
      adopt: step,
      screen: step,
      settle: async (txId) => {
        ended.get(txId)?.();
        return txId;
      },
    },
    stickyQueueScheduleToStartTimeout: '3 seconds',
  }),
  Worker.create({
    ...common,
    taskQueue: 'bare-chain',
    activities: {
      prepare: step,
      broadcast: async (txId) => {
        sent.push(txId);
        return txId;
      },
    },
    maxConcurrentActivityTaskExecutions: 20,
  }),
  Worker.create({ ...common, taskQueue: 'bare-authoriser', activities: { authorise: step } }),
  Worker.create({ ...common, taskQueue: 'bare-node', activities: { sign: step } }),
]);
for (const worker of workers) void worker.run();

setInterval(() => {
  const deep = inBlock;
  [inBlock, sent] = [sent, []];
  for (const txId of deep) void client.workflow.getHandle(`bare-${txId}`).signal('included');
}, blockTimeMs);

async function carryOut() {
  const txId = randomUUID();
  const began = performance.now();
  const end = new Promise((resolve) => ended.set(txId, resolve));
  await client.workflow.start('bare', {
    workflowId: `bare-${txId}`,
    taskQueue: 'bare',
    args: [txId],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    typedSearchAttributes: Object.values(keys).map((key) => ({ key, value: txId })),
    staticSummary: 'ETH on ethereum',
    memo: { requestId: txId },
  });
  await end;
  ended.delete(txId);
  return performance.now() - began;
}

for await (const line of createInterface(process.stdin)) {
  const { count, inFlight } = JSON.parse(line);
  const ms = [];
  let left = count;
  const inTurn = async () => {
    while (left > 0) {
      left -= 1;
      ms.push(await carryOut());
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: inFlight }, inTurn));
  process.stdout.write(`${JSON.stringify({ seconds: (performance.now() - began) / 1000, ms })}\n`);
}

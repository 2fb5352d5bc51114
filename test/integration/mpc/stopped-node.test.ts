import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { withMappedErrors } from '../../../activities/errors';
import { createWalletActivities } from '../../../activities/wallet';
import { until } from '../../../dev/processes';
import { loadRegistry } from '../../../src/chains/registry';
import { type NodeIndex, nodeIndexes } from '../../../src/messages/nodes';
import { authoriserTaskQueue, mainTaskQueue, nodeTaskQueue } from '../../../src/messages/task-queues';
import { fillKeyPoolWorkflowId, generateKeyWorkflowId } from '../../../src/messages/workflow-ids';
import type { TransactionSignatures } from '../../../src/messages/signing';
import { newId } from '../../../src/platform/ids';
import { createLogger } from '../../../src/platform/logging';
import { WalletEntity } from '../../../src/wallets/entity';
import { keyGenerationOn } from '../../../src/wallets/key-generation';
import { fillKeyPool } from '../../../src/wallets/key-pool';
import type { schedule, Scheduled } from '../../adversary/schedule';
import { buildClient } from '../../factories';
import { createTestLedger } from '../../ledger';
import { orderHead, signOrder } from '../../orders';
import { createTestDatabase, type TestDatabase } from '../../stack/database';
import { type ServedTemporal, startTemporal, workflowBundle } from '../../temporal';
import { wallet } from './group';
import { committedGroupKey } from './node-processes';
import { ServedNodes } from './served-nodes';
import { SilentProxy } from './silent-proxy';
import { client, type OrderedTransfer, orderedTransfer, toRequest } from './transactions';

// a key takes some 11 s of processor time, and each generation here is begun twice
jest.setTimeout(400_000);

/** Long before the 30 s of docker-compose.yml, also on a machine that does much else. */
const withinMs = 15_000;
/** The same where Temporal does not answer, for which a node waits. */
const untoldWithinMs = 25_000;
const keyPoolSize = 1;
const askingQueue = 'asking';
const key = committedGroupKey('wallet.signs');
const registry = loadRegistry('local', ['ethereum']);
const log = createLogger('test', 'silent');

/** SIGTERM to a signing node that is in the middle of something: the process of each node, Temporal, worker and authoriser are real. */
let temporal: ServedTemporal;
let gateway: TestDatabase;
let nodes: ServedNodes;
let clientId: string;
const workers: { worker: Worker; ended: Promise<void> }[] = [];

beforeAll(async () => {
  [temporal, gateway] = await Promise.all([startTemporal(), createTestDatabase()]);
  const { database } = gateway;
  await gateway.logins();
  ({ clientId } = await buildClient(database));
  nodes = await ServedNodes.start({ address: temporal.address, namespace: temporal.namespace ?? 'default' }, key.keyId);
  const { code } = await bundleWorkflowCode({
    workflowsPath: require.resolve('../../adversary/schedule'),
    logger: new DefaultLogger('ERROR'),
  });
  await startWorker(mainTaskQueue, { workflowBundle, activities: withMappedErrors(createWalletActivities(database), log) });
  const ledger = createTestLedger({ database, registry, log, keyPoolSize });
  await startWorker(authoriserTaskQueue, { activities: withMappedErrors({ ...ledger }, log) });
  await startWorker(askingQueue, { workflowBundle: { code } });
  const facts = { kind: 'bind_key', key_id: key.keyId, wallet_id: wallet, client_id: client } as const;
  for (const node of nodeIndexes) {
    const input = { order: await signOrder({ ...orderHead(), ...facts }) };
    await ask({ taskQueue: nodeTaskQueue(node), activity: 'bindKey', input });
  }
});
afterAll(async () => {
  for (const { worker } of workers) worker.shutdown();
  await Promise.all(workers.map(({ ended }) => ended));
  await nodes.close();
  await gateway.drop();
  await temporal.teardown();
});

async function startWorker(taskQueue: string, options: Partial<Parameters<typeof Worker.create>[0]>): Promise<void> {
  const { nativeConnection: connection, namespace = 'default' } = temporal;
  const worker = await Worker.create({ connection, namespace, taskQueue, shutdownForceTime: '5 seconds', ...options });
  workers.push({ worker, ended: worker.run() });
}

/** One activity by Temporal. */
const ask = (scheduled: Scheduled): Promise<unknown> =>
  temporal.client.workflow.execute<typeof schedule>('schedule', {
    ...{ taskQueue: askingQueue, workflowId: newId() },
    args: [scheduled],
  });

async function newWallet(): Promise<string> {
  const walletId = newId();
  const state = { status: 'PROGRESSING', keyStatus: 'GENERATING' } as const;
  await gateway.database.manager.insert(WalletEntity, { walletId, clientId, walletName: walletId, ...state });
  await keyGenerationOn(temporal.client).start({ walletId, clientId });
  return walletId;
}

const result = (workflowId: string) => temporal.client.workflow.getHandle(workflowId).result();

/** Until all nodes take part in the generation of a key. */
async function generating(): Promise<void> {
  const isRunning = async () =>
    (await Promise.all(nodeIndexes.map((node) => nodes.sessions(node, 'keygen')))).every((count) => count === 1);
  expect(await until(isRunning, 60_000, 50)).toBe(true);
}

/** Keys of which each node has a share, by the beginning of their ids. */
const sharesLike = (prefix: string) =>
  Promise.all(
    nodeIndexes.map(async (node) => {
      const rows = await nodes.query<{ key_id: string }>(node, `select key_id from key_shares where key_id like $1 || '%'`, [
        prefix,
      ]);
      return rows.map(({ key_id: keyId }) => keyId);
    }),
  );

/** It has a key after all, and no node has a share of any other that was begun for it. */
async function hasItsKey(walletId: string): Promise<void> {
  await result(generateKeyWorkflowId(walletId));
  const [row] = await gateway.database.query<{ key_id: string; status: string }[]>(
    'select key_id, status from wallets where wallet_id = $1',
    [walletId],
  );
  expect(row?.status).toBe('ACTIVE');
  expect(await sharesLike(walletId)).toEqual(nodeIndexes.map(() => [row?.key_id]));
}

test('the initiator of a key generation, while another node does not answer and a second wallet waits: both get their keys later', async () => {
  const wallets = [await newWallet(), await newWallet()];
  await generating();
  nodes.pause(3);
  try {
    const { ms, ...end } = await nodes.terminate(1);
    expect(end).toEqual({ code: 0, signal: null });
    expect(ms).toBeLessThan(withinMs);
    for (const walletId of wallets) expect(await sharesLike(walletId)).toEqual([[], [], []]);
  } finally {
    nodes.resume(3);
  }
  await nodes.startNode(1);
  for (const walletId of wallets) await hasItsKey(walletId);
});

test('a participant: the others are told, and the wallet gets another key when the node is back', async () => {
  const walletId = await newWallet();
  await generating();
  const { ms, ...end } = await nodes.terminate(2);
  expect(end).toEqual({ code: 0, signal: null });
  expect(ms).toBeLessThan(withinMs);
  // and do not wait for its messages, for a minute
  const isOver = async () => (await nodes.sessions(1, 'keygen')) + (await nodes.sessions(3, 'keygen')) === 0;
  expect(await until(isOver, withinMs)).toBe(true);
  expect(await sharesLike(walletId)).toEqual([[], [], []]);
  await nodes.startNode(2);
  await hasItsKey(walletId);
});

test('a generation for the pool: the pool is full when the node is back, and counts no other key', async () => {
  await fillKeyPool(gateway.database, temporal.client, keyPoolSize);
  await generating();
  const { ms, ...end } = await nodes.terminate(1);
  expect(end).toEqual({ code: 0, signal: null });
  expect(ms).toBeLessThan(withinMs);
  expect(await sharesLike('pool-')).toEqual([[], [], []]);
  await nodes.startNode(1);
  await result(fillKeyPoolWorkflowId);
  const free = await gateway.database.query<{ key_id: string }[]>('select key_id from free_pooled_keys');
  expect(free).toHaveLength(keyPoolSize);
  expect(await sharesLike('pool-')).toEqual(nodeIndexes.map(() => free.map(({ key_id: keyId }) => keyId)));
});

test('while Temporal does not answer: it ends all the same, and closes what it has', async () => {
  const proxy = await SilentProxy.start(temporal.address);
  try {
    await nodes.terminate(1);
    await nodes.startNode(1, { TEMPORAL_ADDRESS: proxy.address });
    const facts = { kind: 'generate_key', key_id: 'wallet.untold', client_id: client } as const;
    const input = { order: await signOrder({ ...orderHead(), ...facts }) };
    const scheduled = { taskQueue: nodeTaskQueue(1), activity: 'generateKey', input };
    const run = { taskQueue: askingQueue, workflowId: newId(), args: [scheduled] as [Scheduled] };
    await temporal.client.workflow.start<typeof schedule>('schedule', run);
    await generating();
    proxy.silence();
    const { ms, ...end } = await nodes.terminate(1);
    expect(end).toEqual({ code: 0, signal: null });
    expect(ms).toBeLessThan(untoldWithinMs);
    expect(nodes.log(1)).toContain('Temporal could not be told');
    expect(nodes.log(1).trimEnd().split('\n').at(-1)).toContain('mpc node has stopped');
    expect(await sharesLike('wallet.untold')).toEqual([[], [], []]);
  } finally {
    await proxy.stop();
  }
  await nodes.startNode(1);
});

/** Fewer than would be a ban, were each of them counted. */
const inFlight = 20;
let nonce = 0;

async function sign(ordered: OrderedTransfer, initiator: NodeIndex, peer: NodeIndex): Promise<boolean> {
  const input = await toRequest(ordered, peer);
  const signed = await ask({ taskQueue: nodeTaskQueue(initiator), activity: 'signTransaction', input });
  return (signed as TransactionSignatures).signatures.length === 1;
}

test.each([
  ['end', false],
  ['are given up where the peer does not answer', true],
])('signatures under way %s, and what is not signed is signed by others', async (_what, isHeld) => {
  const all = Array.from({ length: inFlight }, () => orderedTransfer(key, registry, { symbol: 'USDC', nonce: (nonce += 1) }));
  const left: OrderedTransfer[] = [];
  const work = all.map((ordered) => sign(ordered, 1, 2).catch(() => void left.push(ordered)));
  expect(await until(async () => (await nodes.sessions(1, 'sign')) > 0, 60_000, 5)).toBe(true);
  if (isHeld) nodes.pause(2);
  try {
    const { ms, ...end } = await nodes.terminate(1);
    expect(end).toEqual({ code: 0, signal: null });
    expect(ms).toBeLessThan(withinMs);
    const open = await nodes.query(1, `select outcome from journal where outcome is null or outcome = 'failed'`);
    expect(open).toEqual([]);
  } finally {
    if (isHeld) nodes.resume(2);
  }
  // what the node had not taken waits for it
  await nodes.startNode(1);
  await Promise.all(work);
  if (isHeld) expect(left.length).toBeGreaterThan(0);
  else expect(left.length).toBeLessThan(inFlight);
  for (const ordered of left) expect(await sign(ordered, 2, 3)).toBe(true);
  // nobody is banned
  for (const [initiator, peer] of [
    [1, 2],
    [2, 1],
  ] as const)
    expect(await sign(orderedTransfer(key, registry, { symbol: 'USDC', nonce: (nonce += 1) }), initiator, peer)).toBe(true);
});

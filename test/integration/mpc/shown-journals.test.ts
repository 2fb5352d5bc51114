import { createHash } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import pino from 'pino';
import { withMappedErrors } from '../../../activities/errors';
import { readNodeJournals } from '../../../src/cli/node-journals';
import { joinJournals } from '../../../src/cli/order-journals';
import type { OrderReport } from '../../../src/cli/order-operations';
import type { GroupKey } from '../../../src/messages/key-generation';
import type { SignedAnswer } from '../../../src/messages/journal';
import { type NodeIndex, nodeIndexes } from '../../../src/messages/nodes';
import { mainTaskQueue, nodeTaskQueue } from '../../../src/messages/task-queues';
import { readNodeKeys } from '../../../src/mpc/identity';
import { readAnswer } from '../../../src/mpc/journal-answer';
import { signOrder } from '../../orders';
import { recordRun } from '../../replay/record-run';
import { startTemporal, workflowBundle } from '../../temporal';
import { Group, localRegistry } from './group';
import { type OrderedTransfer, orderedTransfer } from './transactions';

/** What `gateway orders show` reads from three running nodes, through a real workflow. Node 3 has limits. */

jest.setTimeout(120_000);

const usdc = localRegistry.get('ethereum').tokens.find(({ symbol }) => symbol === 'USDC')!.contract!;
const limits = { chains: { ethereum: { tokens: { [usdc]: { maxAmount: '1' } } } } };
const nonce = '0123456789abcdef'.repeat(2);
const silent = pino({ level: 'silent' });

let group: Group;
let key: GroupKey;
let temporal: TestWorkflowEnvironment;
const workers = new Map<NodeIndex | 'main', { worker: Worker; done: Promise<void> }>();
let nonces = 0;

beforeAll(async () => {
  [temporal, group] = await Promise.all([startTemporal(), Group.create({ 3: { limits } })]);
  key = await group.addKey('wallet.1');
  await run('main', { taskQueue: mainTaskQueue, workflowBundle });
  for (const node of nodeIndexes) await serve(node);
});
afterAll(async () => {
  for (const name of [...workers.keys()]) await stop(name);
  await temporal.teardown();
  await group.close();
});

async function run(name: NodeIndex | 'main', options: Partial<Parameters<typeof Worker.create>[0]> & { taskQueue: string }) {
  const { nativeConnection: connection, namespace } = temporal;
  const worker = await Worker.create({ connection, namespace, shutdownGraceTime: 100, ...options });
  workers.set(name, { worker, done: worker.run() });
}

const serve = (node: NodeIndex) =>
  run(node, { taskQueue: nodeTaskQueue(node), activities: withMappedErrors(group.node(node).activities, silent) });

async function stop(name: NodeIndex | 'main'): Promise<void> {
  const running = workers.get(name);
  workers.delete(name);
  running?.worker.shutdown();
  await running?.done;
}

const certificates = () => readNodeKeys(group.files.nodes[1].peerCerts);
const ask = (txId: string) => readNodeJournals(temporal.client, txId, certificates());

/** Refused by node 3, then signed by 1 and 2. */
async function signed(): Promise<OrderedTransfer> {
  const transfer = orderedTransfer(key, localRegistry, { nonce: (nonces += 1), symbol: 'USDC' });
  await expect(group.sign(transfer, 3, 1)).rejects.toMatchObject({ code: 'node_policy' });
  await group.sign(transfer, 1, 2);
  return transfer;
}

async function reportOf({ claims }: OrderedTransfer): Promise<OrderReport> {
  const { attempt, kind, seq, jti, iat, exp, signers } = claims;
  const order = await signOrder(claims);
  return {
    attempt,
    kind,
    seq,
    jti,
    issued_at: new Date(iat * 1000),
    expires_at: new Date(exp * 1000),
    kid: null,
    signature: 'valid',
    order_sha256: createHash('sha256').update(order).digest('hex'),
    digests: signers.flatMap(({ digests }) => digests),
    bytes_sha256: '',
  };
}

test('each node tells what it has admitted and refused; the records are put to their order', async () => {
  const transfer = await signed();
  const asked = jest.spyOn(temporal.client.workflow, 'execute');
  const reports = await ask(transfer.claims.tx_id);
  expect(reports.map(({ node, state, detail }) => ({ node, state, detail }))).toEqual(
    nodeIndexes.map((node) => ({ node, state: 'verified', detail: null })),
  );
  const journals = reports.flatMap(({ journal }) => journal ?? []);
  const joined = joinJournals([await reportOf(transfer)], journals);
  expect(joined.without_order).toEqual([]);
  const records = joined.orders[0]?.journal ?? [];
  const common = { attempt: 1, payload: 0, initiator: 1, at: expect.any(String), record: 'admitted', outcome: 'signed' };
  expect(records).toHaveLength(3);
  expect(records).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ node: 3, record: 'refused', attempt: 1, peer: null, as_ordered: null }),
      { ...common, node: 1, peer: 2, session: expect.stringMatching(/^[0-9a-f]{32,}$/), as_ordered: true },
      { ...common, node: 2, peer: 1, session: expect.stringMatching(/^[0-9a-f]{32,}$/), as_ordered: true },
    ]),
  );
  const [first, second] = records.filter(({ record }) => record === 'admitted');
  expect(first?.session).toBe(second?.session);

  const [, options] = asked.mock.calls[0] as unknown as [string, { workflowId: string }];
  await recordRun(temporal.client, options.workflowId, 'read-journals');
});

test('records of an order that the gateway does not have, or of other digests, are named', async () => {
  const transfer = await signed();
  const journals = (await ask(transfer.claims.tx_id)).flatMap(({ journal }) => journal ?? []);
  const report = await reportOf(transfer);
  const other = { ...report, order_sha256: '0'.repeat(64) };
  expect(joinJournals([other], journals)).toMatchObject({
    orders: [{ journal: [] }],
    without_order: Array.from({ length: 3 }, () => ({ order_sha256: report.order_sha256 })),
  });
  const { orders } = joinJournals([{ ...report, digests: ['0x00'] }], journals);
  expect(orders[0]?.journal.map(({ as_ordered }) => as_ordered)).toEqual(expect.arrayContaining([null, false, false]));
  // the signed order is no longer known: by its running number
  expect(joinJournals([{ ...report, order_sha256: null }], journals).orders[0]?.journal).toHaveLength(3);
  expect(joinJournals([{ ...report, order_sha256: null, seq: 99, attempt: 9 }], journals).without_order).toHaveLength(3);
});

test('a node that is down is unreachable, and the others answer', async () => {
  const { claims } = await signed();
  await stop(2);
  const asked = jest.spyOn(temporal.client.workflow, 'execute');
  try {
    const reports = await ask(claims.tx_id);
    expect(reports.map(({ state }) => state)).toEqual(['verified', 'unreachable', 'verified']);
    expect(reports[1]?.detail).toContain('no response in time');
    const [, options] = asked.mock.calls.at(-1) as unknown as [string, { workflowId: string }];
    await recordRun(temporal.client, options.workflowId, 'read-journals-node-down');
  } finally {
    await serve(2);
  }
});

describe('an answer', () => {
  let txId: string;
  let answer: SignedAnswer;
  beforeAll(async () => {
    txId = (await signed()).claims.tx_id;
    answer = await group.node(1).activities.readJournal({ txId, nonce });
  });
  const read = (changes: Partial<SignedAnswer> = {}, node: NodeIndex = 1, request = { txId, nonce }) =>
    readAnswer({ ...answer, ...changes }, node, request, certificates());

  test('counts only unchanged, from the node that was asked, and for this question', () => {
    expect(read().entries).toHaveLength(1);
    expect(() => read({ text: answer.text.replace('"signed"', '"failed"') })).toThrow(/signature does not verify/);
    expect(() => read({}, 2)).toThrow(/signature does not verify/);
    expect(() => read({}, 1, { txId, nonce: nonce.replace('0', '1') })).toThrow(/another question/);
    expect(() => read({}, 1, { txId: 'other', nonce })).toThrow(/another question/);
  });

  test('about a transaction that the node does not know is empty', async () => {
    const request = { txId: 'unknown', nonce };
    const empty = await group.node(1).activities.readJournal(request);
    expect(readAnswer(empty, 1, request, certificates())).toEqual({ node: 1, entries: [], refusals: [], isComplete: true });
    await expect(group.node(1).activities.readJournal({ txId, nonce: 'x' })).rejects.toMatchObject({ code: 'invalid_parameter' });
  });

  test('has a limited number of entries and says that older ones are left out', async () => {
    await group.query(
      1,
      `insert into journal select (jsonb_populate_record(j, jsonb_build_object('number', j.number + i))).*
         from journal j, generate_series(1, 120) i where tx_id = $1`,
      [txId],
    );
    answer = await group.node(1).activities.readJournal({ txId, nonce });
    const { entries, isComplete } = read();
    expect(isComplete).toBe(false);
    expect(entries.length).toBeGreaterThan(50);
    expect(entries.length).toBeLessThanOrEqual(100);
    expect(answer.text.length).toBeLessThan(200_000);
  });
});

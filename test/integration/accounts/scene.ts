import type { KeyObject } from 'node:crypto';
import { ChainRegistry } from '../../../src/chains/registry';
import { solana } from '../../../src/chains/registry/solana';
import { accountKeyGenerationOn } from '../../../src/accounts/key-generation';
import type { AuthoriserActivities } from '../../../src/messages/authoriser';
import { type NodeIndex, nodeIndexes } from '../../../src/messages/nodes';
import type { MpcNodeActivities } from '../../../src/messages/signing';
import { authoriserTaskQueue, mainTaskQueue, nodeTaskQueue } from '../../../src/messages/task-queues';
import { type NodeKeys, readNodeKeys } from '../../../src/mpc/identity';
import { Worker } from '@temporalio/worker';
import type { DataSource } from 'typeorm';
import { withMappedErrors } from '../../../activities/errors';
import { buildWallet, type BuiltWallet } from '../../factories';
import { createTestLedger } from '../../ledger';
import { nodeKeys as testKeys } from '../../node-refusals';
import { startTemporal, workflowBundle } from '../../temporal';
import { createFixture, type Fixture, registry as localRegistry, type Tenant } from '../http/fixture';
import { Group } from '../mpc/group';

const silent = { child: () => silent, warn() {}, error() {}, info() {} } as never;
export const registry = new ChainRegistry([...localRegistry.all, ...solana.local]);

/** Runs before an activity of a node; what it throws is the activity's failure. */
export type Before = (node: NodeIndex, activity: keyof MpcNodeActivities) => Promise<void> | void;

export interface Scene {
  fixture: Fixture;
  group: Group;
  temporal: Awaited<ReturnType<typeof startTemporal>>;
  /** What the nodes sign attestations with. */
  attesting: NodeKeys;
  authoriser: AuthoriserActivities;
  /** Set by a test; reset by `reset`. */
  before: { run: Before };
  /** Runs before a node's answer is given; what it throws is given instead. */
  after: { run: Before };
  stopWorker(queue: string): Promise<void>;
  startWorker(queue: string): Promise<void>;
  wallet(tenant?: Tenant): Promise<BuiltWallet>;
  create(wallet: { walletId: string }, key: string | null, tenant?: Tenant): ReturnType<Fixture['call']>;
  close(): Promise<void>;
}

interface SceneOptions {
  /** How long a request waits for the key of an account. */
  waitMs?: number;
  keyPoolSize?: number;
  /** What the main worker does beside the workflows. */
  mainActivities?: (database: DataSource) => object;
}

/** The API on a real Temporal server with the worker's, the authoriser's and three real nodes' queues. */
export async function createScene({
  waitMs = 10_000,
  keyPoolSize = 0,
  mainActivities = () => ({}),
}: SceneOptions = {}): Promise<Scene> {
  const [temporal, group] = await Promise.all([startTemporal(), Group.create()]);
  const real = readNodeKeys(group.files.nodes[1].peerCerts);
  const keysOf = (node: NodeIndex): [KeyObject, ...KeyObject[]] => {
    const [first, ...former] = real.get(node) ?? [];
    if (!first) throw new Error(`node ${node} has no identity`);
    return [first, ...former, ...(testKeys.get(node) ?? [])];
  };
  const attesting = new Map(nodeIndexes.map((node) => [node, keysOf(node)]));
  const accountKeyGeneration = accountKeyGenerationOn(temporal.client, waitMs);
  const fixture = await createFixture({ chains: registry, attesting, accountKeyGeneration });
  const ledger = createTestLedger({ database: fixture.database, registry, log: fixture.log, keyPoolSize });
  const before: Scene['before'] = { run: () => undefined };
  const after: Scene['after'] = { run: () => undefined };
  const nodeActivities = (node: NodeIndex) => {
    const ask = <K extends keyof MpcNodeActivities>(name: K) => {
      return async (input: never) => {
        await before.run(node, name);
        const answer = await (group.node(node).activities[name] as (given: never) => Promise<unknown>)(input);
        await after.run(node, name);
        return answer;
      };
    };
    return { generateKey: ask('generateKey'), confirmKey: ask('confirmKey'), testSign: ask('testSign'), bindKey: ask('bindKey') };
  };
  const activities: Record<string, object> = {
    [mainTaskQueue]: mainActivities(fixture.database),
    [authoriserTaskQueue]: { ...ledger },
    ...Object.fromEntries(nodeIndexes.map((node) => [nodeTaskQueue(node), nodeActivities(node)])),
  };
  const running = new Map<string, { worker: Worker; ended: Promise<void> }>();
  const startWorker = async (taskQueue: string) => {
    const worker = await Worker.create({
      ...{ connection: temporal.nativeConnection, namespace: temporal.namespace, taskQueue, shutdownForceTime: '5 seconds' },
      ...(taskQueue === mainTaskQueue && { workflowBundle }),
      activities: withMappedErrors(activities[taskQueue] as never, silent),
    });
    running.set(taskQueue, { worker, ended: worker.run() });
  };
  const stopWorker = async (taskQueue: string) => {
    const found = running.get(taskQueue);
    running.delete(taskQueue);
    found?.worker.shutdown();
    await found?.ended;
  };
  await Promise.all(Object.keys(activities).map(startWorker));
  return {
    ...{ fixture, group, temporal, attesting, authoriser: ledger, before, after, startWorker, stopWorker },
    wallet: (tenant = fixture.demo) => buildWallet(fixture.database, { clientId: tenant.clientId } as never),
    create: ({ walletId }, key, tenant) =>
      fixture.call('POST', '/accounts', {
        body: { wallet_id: walletId, chain: 'solana' },
        ...(key !== null && { headers: { 'Idempotency-Key': key } }),
        ...(tenant && { tenant }),
      }),
    close: async () => {
      await Promise.all([...running.keys()].map(stopWorker));
      await fixture.close();
      await temporal.teardown();
      await group.close();
    },
  };
}

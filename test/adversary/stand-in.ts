import { NativeConnection, Worker } from '@temporalio/worker';
import pino from 'pino';
import { withMappedErrors } from '../../activities/errors';
import { migrations } from '../../migrations/mpc-node';
import { loadRegistry } from '../../src/chains/registry';
import { nodeTaskQueue } from '../../src/messages/task-queues';
import { createMpcNode, type MpcNode } from '../../src/mpc/node';
import { OrderVerifier } from '../../src/mpc/order-verifier';
import type { ProtocolEngine } from '../../src/mpc/protocol/engine';
import { parseKeks } from '../../src/mpc/share-cipher';
import { ShareStore } from '../../src/mpc/store';
import { parsePeers } from '../../src/mpc/transport-client';
import { readConfig } from '../../src/platform/config';
import { stack } from '../stack/client';
import { nodeEnvironment, nodeIdentity, nodeIsBack, stopNode } from './nodes';
import { cheat } from './peer';

/** Other than what the program of a node has. */
export interface StandInOptions {
  engine?: ProtocolEngine;
  /** JWKS of the authoriser's keys. */
  orderKeys?: string;
}

/** A program of the adversary's that runs in place of the stack's node 3, with its certificate, share and database. */
export class StandIn {
  private constructor(
    private readonly node: MpcNode,
    private readonly worker: Worker,
    private readonly serving: Promise<void>,
    private readonly connection: NativeConnection,
    private readonly release: () => void,
  ) {}

  static async start(options: StandInOptions = {}): Promise<StandIn> {
    const release = await stopNode(cheat);
    try {
      const node = await createNode(options);
      const { address, namespace } = stack().temporal;
      const connection = await NativeConnection.connect({ address });
      const worker = await Worker.create({
        connection,
        namespace,
        taskQueue: nodeTaskQueue(cheat),
        activities: withMappedErrors(node.activities, silent),
        shutdownGraceTime: '2 seconds',
      });
      return new StandIn(node, worker, worker.run(), connection, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Resolves once the stack's own node 3 serves again. */
  async stop(): Promise<void> {
    try {
      this.worker.shutdown();
      await this.serving;
      await this.connection.close();
      await this.node.close();
    } finally {
      this.release();
    }
    await nodeIsBack(cheat);
  }
}

const silent = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });

async function createNode({ engine, orderKeys }: StandInOptions): Promise<MpcNode> {
  const names = [
    'CHAINS',
    'MPC_NODE_DATABASE_URL',
    'MPC_NODE_LISTEN_HOST',
    'MPC_NODE_LISTEN_PORT',
    'MPC_NODE_PEERS',
    'MPC_NODE_KEK',
    'MPC_NODE_JOURNAL_MARK',
    'MPC_NODE_ORDER_KEYS',
    'MPC_NODE_DEPLOYMENT',
  ] as const;
  const config = readConfig(names, nodeEnvironment(cheat));
  const keks = parseKeks(config.MPC_NODE_KEK);
  return createMpcNode({
    identity: nodeIdentity(cheat),
    peers: parsePeers(config.MPC_NODE_PEERS),
    listen: { host: config.MPC_NODE_LISTEN_HOST, port: config.MPC_NODE_LISTEN_PORT },
    store: await ShareStore.open({ url: config.MPC_NODE_DATABASE_URL, node: cheat, keks, migrations }),
    mark: config.MPC_NODE_JOURNAL_MARK,
    limits: null,
    registry: loadRegistry('local', config.CHAINS.split(',')),
    orders: await OrderVerifier.create({
      keys: orderKeys ?? config.MPC_NODE_ORDER_KEYS,
      deployment: config.MPC_NODE_DEPLOYMENT,
      logger: silent,
    }),
    provers: new Map(),
    logger: silent,
    ...(engine && { engine }),
  });
}

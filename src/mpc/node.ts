import type { ImpossibilityProver } from '../chains/chain-client';
import { getFamily as getRealFamily } from '../chains/families';
import type { GetFamily } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import { EarlierAttempts } from './earlier-attempts';
import { IdleClock } from './idle-clock';
import { PooledKeys } from './pooled-keys';
import type { MpcNodeActivities } from '../messages/signing';
import type { Identity } from './identity';
import type { OrderVerifier } from './order-verifier';
import { ProtocolEngine } from './protocol/engine';
import type { NodeIndex } from '../messages/nodes';
import { createActivities } from './node-activities';
import type { NodeLimits } from './limits';
import { openRecords } from './records';
import { RefusalReport } from './refusal-report';
import { RefusedRequests } from './refused-requests';
import { SeenOrders } from './seen-orders';
import { SigningHandler } from './signing-handler';
import { SessionManager } from './session-manager';
import type { ShareStore } from './store';
import { TransportClient } from './transport-client';
import { TransportServer } from './transport-server';

export interface MpcNodeOptions {
  identity: Identity;
  /** The two others. */
  peers: ReadonlyMap<NodeIndex, URL>;
  listen: { host: string; port: number };
  /** Opened by the caller, closed by the node. */
  store: ShareStore;
  /** Path of the journal mark, outside of the database. */
  mark: string;
  /** null: none but the registry's and the order's. */
  limits: NodeLimits | null;
  registry: ChainRegistry;
  orders: OrderVerifier;
  /** By chain name: at endpoints of this node's own. Reissues on other chains are refused. */
  provers: ReadonlyMap<string, ImpossibilityProver>;
  logger: Logger;
  /** For tests: replaces the engine; the node closes it too. */
  engine?: ProtocolEngine;
  /** For tests: adds families of their own. */
  getFamily?: GetFamily;
}

export interface MpcNode {
  readonly index: NodeIndex;
  readonly activities: MpcNodeActivities;
  /** Whether the share store responds. */
  databaseAnswers(): Promise<boolean>;
  /** Peers that respond now. */
  reachablePeers(): Promise<NodeIndex[]>;
  /** Whether the journal is complete: without that the node signs nothing. */
  journalIsComplete(): boolean;
  /**
   * Begins no session any more, gives up what would generate keys for seconds, and waits up to 5 s for the other sessions: those that remain
   * are aborted. The activities of all of them have ended then. Idempotent.
   */
  drain(): Promise<void>;
  /** Drains and closes everything. */
  close(): Promise<void>;
}

const closingGraceMs = 5_000;

/** Creates one node: its store, its peers, its protocol threads, and the activities that Temporal calls. */
export async function createMpcNode({
  identity,
  peers,
  listen,
  store,
  mark,
  limits,
  registry,
  orders,
  provers,
  logger,
  engine: given,
  getFamily = getRealFamily,
}: MpcNodeOptions): Promise<MpcNode> {
  const self = identity.index;
  // each of the three nodes may initiate one key generation at a time
  const engine = given ?? new ProtocolEngine({ maxKeygenSessions: 4, maxSignSessions: 256 });
  const client = new TransportClient(identity, peers);
  const records = await openRecords({ identity, store, client, mark, limits, logger });
  const { admission, bans } = records;
  const seen = new SeenOrders(store.database);
  const earlier = new EarlierAttempts({ self, registry, getFamily, provers });
  const clock = new IdleClock();
  const handler = new SigningHandler({
    ...{ self, engine, store, registry, getFamily, orders, seen },
    ...{ earlier, admission, bans, logger },
    pooled: new PooledKeys(self, store, clock),
  });
  const refusals = new RefusalReport(self, logger, new RefusedRequests(store.database));
  const sessions = new SessionManager({
    self,
    signingKey: identity.signingKey,
    getPublicKey: (party) => identity.getPublicKey(party),
    link: client,
    clock,
    acceptProposal: (params, statement) => {
      const { kind, initiator, request } = params;
      return refusals.during({ role: 'peer', act: kind, peer: initiator, request }, () =>
        handler.acceptProposal(params, statement),
      );
    },
    logger,
  });
  bans.onBan((keyId, peer) =>
    sessions.endAll(keyId, peer, new GatewayError('key_peer_banned', `node ${peer} was banned for this key`)),
  );
  const server = new TransportServer({ identity, ...listen, service: sessions, archive: records.archive, logger });
  await server.listen();
  await records.start();
  const drain = async () => {
    await Promise.all([sessions.drain(closingGraceMs), engine.endKeygen('this node is stopping')]);
  };

  return {
    index: self,
    activities: refusals.activities(createActivities({ identity, handler, sessions, store, orders, records, seen })),
    databaseAnswers: () =>
      store.ping().then(
        () => true,
        () => false,
      ),
    journalIsComplete: () => records.isComplete(),
    reachablePeers: async () => {
      const reachable = await Promise.all(identity.others.map((party) => client.ping(party)));
      return identity.others.filter((_, index) => reachable[index]);
    },
    drain,
    close: async () => {
      await drain();
      await records.close();
      await server.close();
      client.close();
      await engine.close();
      await store.close();
    },
  };
}

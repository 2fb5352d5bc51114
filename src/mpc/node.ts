import type { ChainRegistry } from '../chains/registry';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import { EcdsaHandler, groupKey } from './ecdsa-handler';
import type { Identity } from './identity';
import type { MpcNodeActivities, TransactionSignatures } from '../messages/signing';
import type { OrderVerifier } from './order-verifier';
import { ProtocolEngine } from './protocol/engine';
import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import { hashPage } from '../messages/page-hash';
import {
  readApplyBlacklist,
  readBindKey,
  readBlacklistVersion,
  readConfirmKey,
  readGenerateKey,
  readJournalOf,
  readSignTransaction,
  readTestSign,
} from './requests';
import { Semaphore } from '../platform/semaphore';
import type { NodeLimits } from './limits';
import { openRecords, type Records } from './records';
import { SessionManager } from './session-manager';
import { wipe, type ShareStore } from './store';
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
  logger: Logger;
  /** For tests: replaces the engine; the node closes it too. */
  engine?: ProtocolEngine;
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
  /** Waits up to 5 s for running sessions, aborts the remaining ones and closes everything. */
  close(): Promise<void>;
}

const closingGraceMs = 5_000;
/** Key generations occupy at most this many of the 50 activity slots while they wait, so that slots remain for signatures. */
const maxWaitingKeygens = 8;
/** Less than the time-out that the workflow sets for a key generation (180 s). */
const maxKeygenWaitMs = 60_000;

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
  logger,
  engine: given,
}: MpcNodeOptions): Promise<MpcNode> {
  const self = identity.index;
  // each of the three nodes may initiate one key generation at a time
  const engine = given ?? new ProtocolEngine({ maxKeygenSessions: 4, maxSignSessions: 256 });
  const client = new TransportClient(identity, peers);
  const records = await openRecords({ identity, store, client, mark, limits, logger });
  const { admission, bans } = records;
  const ecdsa = new EcdsaHandler({ self, engine, store, registry, orders, admission, bans, logger });
  const sessions = new SessionManager({
    self,
    signingKey: identity.signingKey,
    publicKeyOf: (party) => identity.publicKeyOf(party),
    link: client,
    acceptProposal: (params, statement) => ecdsa.acceptProposal(params, statement),
    logger,
  });
  bans.onBan((keyId, peer) =>
    sessions.endAll(keyId, peer, new GatewayError('key_peer_banned', `node ${peer} was banned for this key`)),
  );
  const server = new TransportServer({ identity, ...listen, service: sessions, archive: records.archive, logger });
  await server.listen();
  await records.start();

  return {
    index: self,
    activities: createActivities({ self, ecdsa, sessions, store, orders, records }),
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
    close: async () => {
      await sessions.drain(closingGraceMs);
      await records.close();
      await server.close();
      client.close();
      await engine.close();
      await store.close();
    },
  };
}

interface NodeParts {
  self: NodeIndex;
  ecdsa: EcdsaHandler;
  sessions: SessionManager;
  store: ShareStore;
  orders: OrderVerifier;
  records: Records;
}

function createActivities({ self, ecdsa, sessions, store, orders, records }: NodeParts): MpcNodeActivities {
  const keygens = new Semaphore({ permits: 1, maxWaiting: maxWaitingKeygens, maxWaitMs: maxKeygenWaitMs });
  const assertOtherNode = (peer: NodeIndex) => {
    if (peer === self) throw new GatewayError('invalid_parameter', 'a node cannot be its own peer');
  };
  return {
    async generateKey(input) {
      const request = readGenerateKey(input);
      if (!(await keygens.acquire()))
        throw new GatewayError('signers_unavailable', 'This node is busy with key generations', { retryAfterSeconds: 5 });
      try {
        return await sessions.initiate(ecdsa.toSessionParams('keygen', nodeIndexes, request), await ecdsa.keygen(request));
      } finally {
        keygens.release();
      }
    },

    async confirmKey(input) {
      const { keyId } = readConfirmKey(input);
      const key = await store.unlock(keyId);
      if (!key) throw new GatewayError('not_found', `node ${self} has no share of key ${keyId}`);
      wipe(key);
      return groupKey(keyId, key);
    },

    async testSign(input) {
      const request = readTestSign(input);
      assertOtherNode(request.peer);
      await sessions.initiate(
        ecdsa.toSessionParams('test', [self, request.peer], request),
        await ecdsa.test(request, request.peer, 'initiator'),
      );
      return { verified: true };
    },

    async signTransaction(input): Promise<TransactionSignatures> {
      const transaction = readSignTransaction(input);
      assertOtherNode(transaction.peer);
      const signatures: TransactionSignatures['signatures'] = [];
      let payloads = 1;
      for (let payload = 0; payload < payloads; payload += 1) {
        const request = { transaction, payload };
        const { task, ...signing } = await ecdsa.sign(request, { peer: transaction.peer, initiator: self });
        payloads = signing.payloads;
        const params = ecdsa.toSessionParams('sign', [self, transaction.peer], request);
        signatures.push('recorded' in task ? task.recorded : await sessions.initiate(params, task));
      }
      return { signatures };
    },

    async bindKey(input) {
      const { claims } = await orders.verify(readBindKey(input).order, ['bind_key']);
      const { key_id: keyId, wallet_id: walletId, client_id: clientId } = claims;
      await store.bind(keyId, { walletId, clientId });
      return { bound: true };
    },

    async blacklistVersion(input) {
      return { version: await store.blacklist.version(readBlacklistVersion(input).clientId) };
    },

    async applyBlacklist(input) {
      const { order, changes } = readApplyBlacklist(input);
      const { claims } = await orders.verify(order, ['blacklist_page']);
      const { client_id: clientId, after, through, sha256 } = claims;
      if (hashPage(changes) !== sha256) throw new GatewayError('order_refused', 'sha256: the changes are others');
      return { version: await store.blacklist.apply({ clientId, after, through, changes }) };
    },

    async journalOf(input) {
      return records.reader.answer(readJournalOf(input));
    },
  };
}

import type { ChainRegistry } from '../chains/registry';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import { EcdsaHandler, groupKey } from './ecdsa-handler';
import type { Identity } from './identity';
import type { MpcNodeActivities, TransactionSignatures } from '../messages/signing';
import { ProtocolEngine } from './protocol/engine';
import type { Party } from './protocols';
import { readBlacklistChanges, readConfirmKey, readGenerateKey, readSignTransaction, readTestSign } from './requests';
import { Semaphore } from './semaphore';
import { SessionManager } from './session-manager';
import { wipe, type ShareStore } from './store';
import { TransportClient } from './transport-client';
import { TransportServer } from './transport-server';

export interface MpcNodeOptions {
  identity: Identity;
  /** The two others. */
  peers: ReadonlyMap<Party, URL>;
  listen: { host: string; port: number };
  /** Opened by the caller, closed by the node. */
  store: ShareStore;
  registry: ChainRegistry;
  logger: Logger;
  /** For tests: another engine; closed by the node as well. */
  engine?: ProtocolEngine;
}

export interface MpcNode {
  readonly index: Party;
  readonly activities: MpcNodeActivities;
  /** Whether the share store answers. */
  databaseAnswers(): Promise<boolean>;
  /** Peers that answer now. */
  reachablePeers(): Promise<Party[]>;
  /** Finishes sessions under way within 5 s, aborts the rest, and closes everything. */
  close(): Promise<void>;
}

const closingGraceMs = 5_000;
/** Of 50 activity slots key generations hold at most this many, so that signatures always find one. */
const maxWaitingKeygens = 8;
/** Within the time that a workflow grants a generation (180 s). */
const maxKeygenWaitMs = 60_000;

/** Wires one node: its store, its peers, its protocol threads, and the activities that Temporal calls. */
export async function createMpcNode({
  identity,
  peers,
  listen,
  store,
  registry,
  logger,
  engine: given,
}: MpcNodeOptions): Promise<MpcNode> {
  const self = identity.index;
  // one key generation a node may initiate, and one of each peer
  const engine = given ?? new ProtocolEngine({ maxKeygenSessions: 4, maxSignSessions: 256 });
  const client = new TransportClient(identity, peers);
  const ecdsa = new EcdsaHandler({ self, engine, store, registry, logger });
  const sessions = new SessionManager({
    self,
    signingKey: identity.signingKey,
    publicKeyOf: (party) => identity.publicKeyOf(party),
    link: client,
    acceptProposal: (terms) => ecdsa.acceptProposal(terms),
    logger,
  });
  const server = new TransportServer({ identity, ...listen, service: sessions, logger });
  await server.listen();

  return {
    index: self,
    activities: createActivities(self, ecdsa, sessions, store),
    databaseAnswers: () =>
      store.ping().then(
        () => true,
        () => false,
      ),
    reachablePeers: async () => {
      const reached = await Promise.all(identity.others.map((party) => client.reaches(party)));
      return identity.others.filter((_, at) => reached[at]);
    },
    close: async () => {
      await sessions.drain(closingGraceMs);
      await server.close();
      client.close();
      await engine.close();
      await store.close();
    },
  };
}

function createActivities(self: Party, ecdsa: EcdsaHandler, sessions: SessionManager, store: ShareStore): MpcNodeActivities {
  const keygens = new Semaphore({ limit: 1, maxWaiting: maxWaitingKeygens, maxWaitMs: maxKeygenWaitMs, what: 'key generations' });
  const mustBeOther = (peer: Party) => {
    if (peer === self) throw new GatewayError('invalid_parameter', 'a node is not its own peer');
  };
  return {
    async generateKey(input) {
      const request = readGenerateKey(input);
      return keygens.run(async () => sessions.initiate(ecdsa.terms('keygen', [1, 2, 3], request), await ecdsa.keygen(request)));
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
      mustBeOther(request.peer);
      await sessions.initiate(ecdsa.terms('test', [self, request.peer], request), await ecdsa.test(request, request.peer));
      return { verified: true };
    },

    async signTransaction(input): Promise<TransactionSignatures> {
      const transaction = readSignTransaction(input);
      mustBeOther(transaction.peer);
      const signatures: TransactionSignatures['signatures'] = [];
      let payloads = 1;
      for (let payload = 0; payload < payloads; payload += 1) {
        const request = { transaction, payload };
        const task = await ecdsa.sign(request, transaction.peer);
        payloads = task.payloads;
        signatures.push(await sessions.initiate(ecdsa.terms('sign', [self, transaction.peer], request), task));
      }
      return { signatures };
    },

    async applyBlacklist(input) {
      return { version: await store.blacklist.apply(readBlacklistChanges(input)) };
    },
  };
}

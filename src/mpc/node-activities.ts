import { hashPage } from '../platform/page-hash';
import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import type { MpcNodeActivities, TransactionSignatures } from '../messages/signing';
import { GatewayError } from '../platform/errors';
import { Semaphore } from '../platform/semaphore';
import { toGroupKey } from './agree-on-key';
import type { EcdsaHandler } from './ecdsa-handler';
import type { Identity } from './identity';
import { attestKey } from './key-attestation';
import type { OrderVerifier } from './order-verifier';
import { answerOrders } from './orders-answer';
import type { Records } from './records';
import {
  readApplyBlacklist,
  readBindKey,
  readBlacklistVersion,
  readConfirmKey,
  readGenerateKey,
  readJournalRequest,
  readOrdersSeen,
  readSignTransaction,
  readTestSign,
} from './requests';
import type { SeenOrders } from './seen-orders';
import type { SessionManager } from './session-manager';
import { type ShareStore, wipe } from './store';

/** Key generations occupy at most this many of the 50 activity slots while they wait, so that slots remain for signatures. */
const maxWaitingKeygens = 8;
/** Less than the time-out that the workflow sets for a key generation (180 s). */
const maxKeygenWaitMs = 60_000;

interface NodeParts {
  identity: Identity;
  ecdsa: EcdsaHandler;
  sessions: SessionManager;
  store: ShareStore;
  orders: OrderVerifier;
  records: Records;
  seen: SeenOrders;
}

/** What Temporal calls, on this node's own task queue. */
export function createActivities({ identity, ecdsa, sessions, store, orders, records, seen }: NodeParts): MpcNodeActivities {
  const self = identity.index;
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
      return toGroupKey(keyId, key);
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
      const { order } = readBindKey(input);
      const { claims } = await orders.verify(order, ['bind_key']);
      const { key_id: keyId, wallet_id: walletId, client_id: clientId } = claims;
      await seen.add({ claims, compact: order });
      const bound = await store.bind(keyId, { walletId, clientId });
      return { bound: true, attestation: attestKey(self, bound, identity.signingKey) };
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

    async readJournal(input) {
      return records.reader.answer(readJournalRequest(input));
    },

    async ordersSeen(input) {
      return answerOrders({ self, seen, signingKey: identity.signingKey }, readOrdersSeen(input));
    },
  };
}

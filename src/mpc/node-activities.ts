import { hasChildren } from '../chains/key-protocols';
import { hashPage } from '../platform/page-hash';
import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import type { MpcNodeActivities, TransactionSignatures } from '../messages/signing';
import { GatewayError } from '../platform/errors';
import { Semaphore } from '../platform/semaphore';
import { toGroupKey } from './agree-on-key';
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
import type { SigningHandler } from './signing-handler';
import { type ShareStore, wipe } from './store';

/**
 * Key generations that wait here: as many as MAX_KEY_GENERATIONS_IN_FLIGHT may be. They occupy so many of the 50 activity slots, so that
 * slots remain for signatures.
 */
const maxWaitingKeygens = 20;
/** With the generation itself less than the time-out that the workflow sets for it (180 s). */
const maxKeygenWaitMs = 150_000;
/** Of keys whose generation takes milliseconds: a request waits for each. */
const maxWaitingQuickKeygens = 8;
const maxQuickKeygenWaitMs = 5_000;

interface NodeParts {
  identity: Identity;
  handler: SigningHandler;
  sessions: SessionManager;
  store: ShareStore;
  orders: OrderVerifier;
  records: Records;
  seen: SeenOrders;
}

/** What Temporal calls, on this node's own task queue. */
export function createActivities({ identity, handler, sessions, store, orders, records, seen }: NodeParts): MpcNodeActivities {
  const self = identity.index;
  const keygens = new Semaphore({ permits: 1, maxWaiting: maxWaitingKeygens, maxWaitMs: maxKeygenWaitMs });
  const quickKeygens = new Semaphore({ permits: 4, maxWaiting: maxWaitingQuickKeygens, maxWaitMs: maxQuickKeygenWaitMs });
  const assertOtherNode = (peer: NodeIndex) => {
    if (peer === self) throw new GatewayError('invalid_parameter', 'a node cannot be its own peer');
  };
  return {
    async generateKey(input) {
      const request = readGenerateKey(input);
      const task = await handler.keygen(request);
      const turns = hasChildren(task.protocol) ? keygens : quickKeygens;
      if (!(await turns.acquire()))
        throw new GatewayError('signers_unavailable', 'This node is busy with key generations', { retryAfterSeconds: 5 });
      try {
        return await sessions.initiate(handler.toSessionParams(task, 'keygen', nodeIndexes, request), task);
      } finally {
        turns.release();
      }
    },

    async confirmKey(input) {
      const { keyId } = readConfirmKey(input);
      const key = await store.unlock(keyId);
      if (!key) throw new GatewayError('not_found', `node ${self} has no share of key ${keyId}`);
      wipe(key);
      return { ...toGroupKey(keyId, key), walletId: key.walletId };
    },

    async testSign(input) {
      const request = readTestSign(input);
      assertOtherNode(request.peer);
      const task = await handler.test(request, request.peer, 'initiator');
      await sessions.initiate(handler.toSessionParams(task, 'test', [self, request.peer], request), task);
      return { verified: true };
    },

    async signTransaction(input): Promise<TransactionSignatures> {
      const transaction = readSignTransaction(input);
      assertOtherNode(transaction.peer);
      const signatures: TransactionSignatures['signatures'] = [];
      let payloads = 1;
      for (let payload = 0; payload < payloads; payload += 1) {
        const request = { transaction, payload };
        const { task, ...signing } = await handler.sign(request, { peer: transaction.peer, initiator: self });
        payloads = signing.payloads;
        if ('recorded' in task) signatures.push(task.recorded);
        else {
          const params = handler.toSessionParams(task, 'sign', [self, transaction.peer], request);
          signatures.push(await sessions.initiate(params, task));
        }
      }
      return { signatures };
    },

    async bindKey(input) {
      const { order } = readBindKey(input);
      const { claims } = await orders.verify(order, ['bind_key']);
      const { key_id: keyId, wallet_id: walletId, client_id: clientId, account_id: accountId } = claims;
      // in a database that is older than the mark a key can look unbound that is another wallet's
      records.admission.assertReady();
      await seen.add({ claims, compact: order });
      const bound = await store.bind(keyId, { walletId, clientId, ...(accountId !== undefined && { accountId }) });
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

import { createHash } from 'node:crypto';
import { getFamily } from '../chains/families';
import type { GetFamily } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import { type VerifiedTransaction, verifyIntent } from './verify-intent';
import type { Hex } from '../chains/types';
import type { GenerateKeyRequest, GroupKey, TestSignRequest } from '../messages/key-generation';
import { transactionOrderKinds } from '../messages/order';
import type { Admission, Admitted } from './admission';
import { misbehaviour } from './metrics';
import type { OrderVerifier } from './order-verifier';
import { ProtocolError, type KeygenResult, type ProtocolEngine } from './protocol/engine';
import type { NodeIndex } from '../messages/nodes';
import type { ProtocolName, ProtocolRun, RoundMessages } from './protocols';
import { readGenerateKey, readSignPayload, readTestSign, type SignPayloadRequest } from './requests';
import { encodeSignature, recoverKey } from './secp256k1';
import type { Session } from './session';
import type { SessionTask } from './session-manager';
import { wipe, type ShareStore, type UnlockedKey } from './store';
import type { SessionParams } from './session-params';

const protocol: ProtocolName = 'ecdsa-secp256k1';
const testDomain = 'custody-gateway/mpc/test-signature/v1\0';

export interface EcdsaHandlerOptions {
  self: NodeIndex;
  engine: Pick<ProtocolEngine, 'keygen' | 'sign'>;
  store: ShareStore;
  registry: ChainRegistry;
  orders: OrderVerifier;
  admission: Admission;
  logger: Logger;
  /** For tests: adds families of their own. */
  getFamily?: GetFamily;
}

export interface SignTask extends SessionTask<Hex> {
  /** Signing payloads of the transaction. */
  payloads: number;
  /** Where this node has a signature over the same digest already, no session is needed. */
  signature?: Hex;
}

/** Who takes part in a signature beside this node. */
interface Participants {
  peer: NodeIndex;
  initiator: NodeIndex;
}

/**
 * What a node does in sessions of threshold ECDSA, as initiator and as peer. No digest is accepted from outside: it is computed
 * from a verified transaction or, for a test signature, from the session id.
 */
export class EcdsaHandler {
  constructor(private readonly options: EcdsaHandlerOptions) {}

  /** This node's own verification of a peer's proposal. @throws GatewayError when it refuses to take part. */
  async acceptProposal(params: SessionParams): Promise<SessionTask<unknown>> {
    const request = parse(params.request);
    switch (params.kind) {
      case 'keygen':
        return this.keygen(readGenerateKey(request));
      case 'test': {
        const test = readTestSign(request);
        this.assertIsSelf(test.peer);
        return this.test(test, params.initiator, 'peer');
      }
      case 'sign': {
        const sign = readSignPayload(request);
        this.assertIsSelf(sign.transaction.peer);
        return this.sign(sign, { peer: params.initiator, initiator: params.initiator });
      }
    }
  }

  toSessionParams(kind: SessionParams['kind'], participants: readonly NodeIndex[], request: unknown): SessionParams {
    return {
      protocol,
      kind,
      initiator: this.options.self,
      participants: [...participants].sort(),
      request: JSON.stringify(request),
    };
  }

  /** Generates a new key with all three nodes: no dealer, and no node ever has another node's share. */
  async keygen({ order }: GenerateKeyRequest): Promise<SessionTask<GroupKey>> {
    const { claims } = await this.options.orders.verify(order, ['generate_key']);
    const { key_id: keyId, client_id: clientId } = claims;
    if (await this.options.store.has(keyId)) throw new GatewayError('invalid_parameter', `key id ${keyId} is already used`);
    return { run: (session) => this.generate(keyId, clientId, session), dispose: () => undefined };
  }

  /**
   * Signs a digest made of key id and session id: proves that two shares fit together, and has no other use. The number per key is
   * limited, and a bound key makes none. The initiator counts once the peer has agreed: one that is down must not use up the tests.
   * @throws GatewayError order_refused
   */
  async test({ order }: TestSignRequest, other: NodeIndex, role: 'initiator' | 'peer'): Promise<SessionTask<void>> {
    const { claims } = await this.options.orders.verify(order, ['generate_key']);
    const { key_id: keyId } = claims;
    const key = await this.unlock(keyId);
    if (role === 'peer')
      await this.countTest(keyId).catch((error: unknown) => {
        wipe(key);
        throw error;
      });
    const run = async (session: Session): Promise<void> => {
      if (role === 'initiator') await this.countTest(keyId);
      const digest = createHash('sha256').update(testDomain).update(`${keyId}\0`).update(session.id).digest();
      await this.signature(session, key, other, { digest, path: 'm', publicKey: key.publicKey });
    };
    return { run, dispose: () => wipe(key) };
  }

  private async countTest(keyId: string): Promise<void> {
    if (await this.options.store.countTestSignature(keyId)) return;
    throw new GatewayError('order_refused', 'key_id: the key is bound, or was tested too often');
  }

  /**
   * Signs one payload of a transaction. Required: a valid order, keys that are bound for its client, bytes that do exactly what the
   * order says, a recipient that is not on this node's copy of the blacklist, and admission. Facts that need a chain (that an earlier
   * attempt is impossible) will be proven here.
   * @throws GatewayError order_refused, intent_mismatch, address_blacklisted
   */
  async sign({ transaction, payload }: SignPayloadRequest, participants: Participants): Promise<SignTask> {
    const { orders, registry, getFamily: families = getFamily } = this.options;
    const { claims, hash } = await orders.verify(transaction.order, transactionOrderKinds);
    const keys = await this.unlockAll(claims.signers.map(({ key_id: keyId }) => keyId));
    try {
      this.assertBound(claims.client_id, keys);
      const verified = verifyIntent(claims, transaction.unsigned, { registry, getFamily: families, keys });
      await this.refuseBlacklisted(claims.client_id, verified);
      const task = verified.payloads[payload];
      const key = task && keys.get(task.keyId);
      if (!key) throw new GatewayError('intent_mismatch', 'payload: the transaction has no such signing payload');
      const { digest, keyId } = task;
      const { resources, token } = verified;
      const entry = { order: claims, orderHash: hash, resources, payload, digest, keyId, token, ...participants };
      const admitted = await this.options.admission.admit(entry);
      const end = this.endOnce(admitted);
      return {
        run: (session) => this.recorded(end, this.signature(session, key, participants.peer, task)),
        dispose: () => {
          keys.forEach(wipe);
          // a session that was never run
          void end(null);
        },
        payloads: verified.payloads.length,
        ...('signature' in admitted && { signature: admitted.signature }),
      };
    } catch (error) {
      keys.forEach(wipe);
      throw error;
    }
  }

  private async recorded(end: (signature: Hex | null) => Promise<void>, signing: Promise<Hex>): Promise<Hex> {
    try {
      const signature = await signing;
      await end(signature);
      return signature;
    } finally {
      await end(null);
    }
  }

  /**
   * Reports the outcome to admission once. A node that has the signature stored takes part again for a peer that has none: the digest
   * is the same, and there is nothing to report.
   */
  private endOnce(admitted: Admitted | { signature: Hex }): (signature: Hex | null) => Promise<void> {
    let isReported = 'signature' in admitted;
    return async (signature) => {
      if (isReported || !('outcome' in admitted)) return;
      isReported = true;
      await admitted
        .outcome(signature)
        .catch((err: unknown) => this.options.logger.error({ err }, 'the outcome of a signature was not stored'));
    };
  }

  /** @throws GatewayError intent_mismatch for a key without a wallet, and for another client's key. */
  private assertBound(clientId: string, keys: ReadonlyMap<string, UnlockedKey>): void {
    for (const key of keys.values()) {
      if (key.walletId === null) throw new GatewayError('intent_mismatch', 'signers: the key is not bound to a wallet');
      if (key.clientId !== clientId) throw new GatewayError('intent_mismatch', 'client_id: the key belongs to another client');
    }
  }

  /** Uses this node's own copy of the client's blacklist, independent of the API, the worker and the authoriser. */
  private async refuseBlacklisted(clientId: string, { chain, recipientKeys }: VerifiedTransaction): Promise<void> {
    const { blacklist } = this.options.store;
    for (const recipientKey of recipientKeys) {
      if (await blacklist.has(clientId, chain, recipientKey))
        throw new GatewayError('address_blacklisted', `node ${this.options.self} has the recipient on the client's blacklist`);
    }
  }

  /**
   * After the protocol all three nodes compare the public result, store their share and inform the initiator that it is durable;
   * only then does the initiator return the key.
   */
  private async generate(keyId: string, clientId: string | null, session: Session): Promise<GroupKey> {
    const { engine, self, store } = this.options;
    const result = await this.reportMisbehaviour(session, keyId, engine.keygen({ sessionId: session.id, party: self }));
    try {
      const summary = Buffer.concat([result.publicKey, result.chainCode]);
      assertSameKey(summary, await session.exchange(toEach(session.others, summary)));
      await store.put({
        keyId,
        clientId,
        protocol,
        publicKey: Buffer.from(result.publicKey),
        chainCode: Buffer.from(result.chainCode),
        share: asBuffer(result.share),
      });
      const { initiator } = session.params;
      if (self === initiator) assertSameKey(summary, await session.exchange(new Map()));
      else await session.exchange(toEach([initiator], summary), []);
      return groupKey(keyId, result);
    } finally {
      result.share.fill(0);
    }
  }

  private async signature(
    session: Session,
    key: UnlockedKey,
    peer: NodeIndex,
    { digest, path, publicKey }: { digest: Buffer; path: string; publicKey: Buffer },
  ): Promise<Hex> {
    const { engine, self } = this.options;
    const opened = engine.sign({ sessionId: session.id, party: self, peer, share: key.share, path, digest });
    const signature = await this.reportMisbehaviour(session, key.keyId, opened);
    if (!recoverKey(signature, digest)?.equals(publicKey))
      throw new GatewayError('signers_unavailable', 'the signature does not recover to the key: it is not used');
    return encodeSignature(signature);
  }

  /**
   * Runs the protocol. Logs an alert when a peer's message fails a check in a way that hints at an attack; durable bans belong
   * here.
   */
  private async reportMisbehaviour<R>(session: Session, keyId: string, protocolRun: Promise<ProtocolRun<R>>): Promise<R> {
    try {
      return await session.run(await protocolRun);
    } catch (error) {
      if (error instanceof ProtocolError && error.code === 'ban') {
        misbehaviour.inc({ peer: String(error.culprit) });
        this.options.logger.fatal(
          { alarm: true, culprit: error.culprit, key_id: keyId },
          'a peer failed a check that protects the share: stop signing with it and investigate',
        );
      }
      throw error;
    }
  }

  private async unlock(keyId: string): Promise<UnlockedKey> {
    const key = await this.options.store.unlock(keyId);
    if (!key) throw new GatewayError('signers_unavailable', `node ${this.options.self} has no share of this key`);
    if (key.protocol === protocol) return key;
    wipe(key);
    throw new GatewayError('invalid_parameter', 'the key is of another protocol');
  }

  /** Unlocks every key once. */
  private async unlockAll(keyIds: string[]): Promise<Map<string, UnlockedKey>> {
    const keys = new Map<string, UnlockedKey>();
    try {
      for (const keyId of new Set(keyIds)) keys.set(keyId, await this.unlock(keyId));
      return keys;
    } catch (error) {
      keys.forEach(wipe);
      throw error;
    }
  }

  private assertIsSelf(peer: NodeIndex): void {
    if (peer !== this.options.self) throw new GatewayError('invalid_parameter', 'the request names another peer');
  }
}

export function groupKey(keyId: string, { publicKey, chainCode }: Pick<KeygenResult, 'publicKey' | 'chainCode'>): GroupKey {
  return { keyId, publicKey: hex(publicKey), chainCode: hex(chainCode) };
}

function parse(request: string): unknown {
  try {
    return JSON.parse(request);
  } catch {
    throw new GatewayError('invalid_parameter', 'the request is not JSON');
  }
}

const hex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`;
/** Shares the memory, so that wiping one wipes the other. */
const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const toEach = (recipients: readonly NodeIndex[], body: Uint8Array): RoundMessages =>
  new Map(recipients.map((party) => [party, body]));

function assertSameKey(summary: Buffer, received: RoundMessages): void {
  for (const [party, theirs] of received) {
    if (!summary.equals(theirs))
      throw new GatewayError('signers_unavailable', `node ${party} ended the key generation with another key`);
  }
}

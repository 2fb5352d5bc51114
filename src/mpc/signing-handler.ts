import { createHash } from 'node:crypto';
import type { GetFamily } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import { Alarms } from '../platform/alarms';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import { verifyIntent } from './verify-intent';
import type { Hex, KeyProtocol } from '../chains/types';
import type { GenerateKeyRequest, GroupKey, TestSignRequest } from '../messages/key-generation';
import { type OrderSigner, signingOrderKinds } from '../messages/order';
import type { Admission } from './admission';
import { type Participants, toAdmissionRequest } from './admission-request';
import type { Bans } from './bans';
import type { EarlierAttempts } from './earlier-attempts';
import type { PooledKeys } from './pooled-keys';
import { EcdsaProtocol } from './ecdsa-protocol';
import { FrostProtocol } from './frost-protocol';
import type { OrderVerifier } from './order-verifier';
import type { NodeIndex } from '../messages/nodes';
import { readGenerateKey, readSignPayload, readTestSign, type SignPayloadRequest } from './requests';
import type { SeenOrders } from './seen-orders';
import type { Session } from './session';
import { isSignature } from './signatures';
import type { Recorded, SessionTask } from './session-task';
import { signatureTask } from './signature-task';
import type { SignedStatement } from './statement';
import { wipe } from './store';
import type { ProtocolOptions, ThresholdProtocol } from './threshold-protocol';
import { assertBound, type Lacks, unlockKey, unlockKeys } from './unlock';
import type { SessionParams } from './session-params';

const testDomain = 'custody-gateway/mpc/test-signature/v1\0';

export interface SigningHandlerOptions extends ProtocolOptions {
  admission: Admission;
  bans: Pick<Bans, 'assertNotBanned' | 'ban'>;
  registry: ChainRegistry;
  orders: OrderVerifier;
  seen: SeenOrders;
  pooled: Pick<PooledKeys, 'assertMayGenerate'>;
  /** What reissues take the place of. */
  earlier: Pick<EarlierAttempts, 'prove'>;
  logger: Logger;
  getFamily: GetFamily;
}

export interface SignTask {
  /** Signing payloads of the transaction. */
  payloads: number;
  /** A session to be run, or the signature of an earlier one. */
  task: SessionTask<Hex> | Recorded;
}

/**
 * What a node does in sessions of its protocols, as initiator and as peer. Nothing to be signed is accepted from outside: it is computed
 * from a verified transaction or, for a test signature, from the session id. Which protocol a session is of is decided by the order, and
 * where a key is used by the key.
 */
export class SigningHandler {
  private readonly protocols: Readonly<Record<KeyProtocol, ThresholdProtocol>>;
  /** The other two sign, so nobody else notices it; and with one share more lost the key would sign nothing for good. */
  private readonly lacks: Lacks;

  constructor(private readonly options: SigningHandlerOptions) {
    const alarms = new Alarms(options.logger);
    this.lacks = (keyId, reason) => alarms.raise(keyId, { alert: 'share_missing', key_id: keyId }, reason);
    this.protocols = { 'ecdsa-secp256k1': new EcdsaProtocol(options), 'frost-ed25519': new FrostProtocol(options) };
  }

  /** This node's own verification of a peer's proposal. @throws GatewayError when it refuses to take part. */
  async acceptProposal(params: SessionParams, statement?: SignedStatement): Promise<SessionTask<unknown> | Recorded> {
    const task = await this.toTask(params, statement);
    if ('recorded' in task || task.protocol === params.protocol) return task;
    task.dispose();
    throw new GatewayError('invalid_parameter', 'the request is for a key of another protocol');
  }

  private async toTask(params: SessionParams, statement?: SignedStatement): Promise<SessionTask<unknown> | Recorded> {
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
        return (await this.sign(sign, { peer: params.initiator, initiator: params.initiator }, statement)).task;
      }
    }
  }

  toSessionParams(
    { protocol }: Pick<SessionTask<unknown>, 'protocol'>,
    kind: SessionParams['kind'],
    participants: readonly NodeIndex[],
    request: unknown,
  ): SessionParams {
    return {
      protocol,
      kind,
      initiator: this.options.self,
      participants: [...participants].sort(),
      request: JSON.stringify(request),
    };
  }

  /**
   * Generates a new key with all three nodes: no dealer, and no node ever has another node's share.
   * @throws GatewayError order_refused; invalid_parameter for a key id that is used; for a key of no client what PooledKeys throws.
   */
  async keygen({ order }: GenerateKeyRequest): Promise<SessionTask<GroupKey>> {
    const { claims } = await this.options.orders.verify(order, ['generate_key']);
    const { key_id: keyId, client_id: clientId, protocol = 'ecdsa-secp256k1' } = claims;
    if (await this.options.store.has(keyId)) throw new GatewayError('invalid_parameter', `key id ${keyId} is already used`);
    if (clientId === null) await this.options.pooled.assertMayGenerate();
    await this.options.seen.add({ claims, compact: order });
    return {
      protocol,
      run: (session) => this.protocols[protocol].generate(keyId, clientId, session),
      dispose: () => undefined,
    };
  }

  /**
   * Signs a digest made of key id and session id: proves that two shares fit together, and has no other use. The number per key is
   * limited, and a bound key makes none. The initiator counts once the peer has agreed: one that is down must not use up the tests.
   * @throws GatewayError order_refused, key_peer_banned or journal_behind
   */
  async test({ order }: TestSignRequest, other: NodeIndex, role: 'initiator' | 'peer'): Promise<SessionTask<void>> {
    const { admission, bans, orders } = this.options;
    const { claims } = await orders.verify(order, ['generate_key']);
    const { key_id: keyId, protocol = 'ecdsa-secp256k1' } = claims;
    admission.assertReady();
    const permit = () => bans.assertNotBanned(keyId, other);
    await permit();
    const key = await unlockKey(this.options, keyId, protocol);
    if (role === 'peer')
      await this.countTest(keyId).catch((error: unknown) => {
        wipe(key);
        throw error;
      });
    const run = async (session: Session): Promise<void> => {
      if (role === 'initiator') await this.countTest(keyId);
      const digest = createHash('sha256').update(testDomain).update(`${keyId}\0`).update(session.id).digest();
      const input = { digest, message: digest, path: 'm', publicKey: key.publicKey };
      await this.protocols[protocol].sign(session, key, other, input, { begun: Promise.resolve(), permit });
    };
    return { protocol, run, dispose: () => wipe(key), keyId };
  }

  private async countTest(keyId: string): Promise<void> {
    if (await this.options.store.countTestSignature(keyId)) return;
    throw new GatewayError('order_refused', 'key_id: the key is bound, or was tested too often');
  }

  /**
   * Signs one payload of a transaction. Required: a valid order, keys that are bound for its client, bytes that do exactly what the
   * order says, of a reissue a proof of this node's own that nothing earlier can be executed, and admission. `statement`: the peer's
   * journal entry.
   * @throws GatewayError order_refused, intent_mismatch, reissue_unproven, and what admission refuses (src/mpc/admission.ts)
   */
  async sign(
    { transaction, payload }: SignPayloadRequest,
    participants: Participants,
    statement?: SignedStatement,
  ): Promise<SignTask> {
    const { orders, registry, earlier, admission, bans, logger, getFamily } = this.options;
    const order = await orders.verify(transaction.order, signingOrderKinds);
    // asks a chain: before the shares are opened
    const proofs = await earlier.prove(order.claims);
    // it may have expired meanwhile
    if (proofs) await orders.verify(transaction.order, signingOrderKinds);
    const { client_id: clientId, signers } = order.claims;
    const keyIds = signers.map(({ key_id: keyId }) => keyId);
    // those of the chain: `verifyIntent` refuses any other
    const protocol = this.protocols[(signers[0] as OrderSigner).protocol];
    const keys = await unlockKeys({ ...this.options, lacks: this.lacks }, keyIds, protocol.name);
    const dispose = () => keys.forEach(wipe);
    try {
      assertBound(clientId, keys, this.lacks);
      const verified = verifyIntent(order.claims, transaction.unsigned, { registry, getFamily, keys });
      const signed = verified.payloads[payload];
      const key = signed && keys.get(signed.keyId);
      if (!key) throw new GatewayError('intent_mismatch', 'payload: the transaction has no such signing payload');
      const admissible = { ...participants, ...(proofs && { proofs }) };
      const request = toAdmissionRequest(order, verified, transaction, payload, key.keyId, admissible);
      const admitted = await admission.admit(request, statement);
      const payloads = verified.payloads.length;
      if ('recorded' in admitted) {
        dispose();
        return { payloads, task: admitted };
      }
      const { peer } = participants;
      const task = signatureTask({
        admission,
        entry: admitted.entry,
        protocol: protocol.name,
        rounds: protocol.signRounds,
        assertNotBanned: () => bans.assertNotBanned(key.keyId, peer),
        sign: (session, permits) => protocol.sign(session, key, peer, signed, permits),
        isValid: (signature) => isSignature(protocol.name, signature, signed),
        dispose,
        logger,
      });
      return { payloads, task };
    } catch (error) {
      dispose();
      throw error;
    }
  }

  private assertIsSelf(peer: NodeIndex): void {
    if (peer !== this.options.self) throw new GatewayError('invalid_parameter', 'the request names another peer');
  }
}

function parse(request: string): unknown {
  try {
    return JSON.parse(request);
  } catch {
    throw new GatewayError('invalid_parameter', 'the request is not JSON');
  }
}

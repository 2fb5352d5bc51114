import { createHash } from 'node:crypto';
import { getFamily } from '../chains/families';
import type { GetFamily } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import type { VerifiedPayload } from './verify/signers';
import { verifyIntent } from './verify-intent';
import type { Hex } from '../chains/types';
import type { GenerateKeyRequest, GroupKey, TestSignRequest } from '../messages/key-generation';
import { signingOrderKinds } from '../messages/order';
import type { Admission } from './admission';
import { type Participants, toAdmissionRequest } from './admission-request';
import type { Bans } from './bans';
import type { EarlierAttempts } from './earlier-attempts';
import { EcdsaProtocol, ecdsaProtocol, type EcdsaProtocolOptions } from './ecdsa-protocol';
import type { OrderVerifier } from './order-verifier';
import type { NodeIndex } from '../messages/nodes';
import { readGenerateKey, readSignPayload, readTestSign, type SignPayloadRequest } from './requests';
import { decodeSignature, recoversTo } from './secp256k1';
import type { SeenOrders } from './seen-orders';
import type { Session } from './session';
import type { Recorded, SessionTask } from './session-task';
import { signatureTask } from './signature-task';
import type { SignedStatement } from './statement';
import { wipe } from './store';
import { assertBound, unlockKey, unlockKeys } from './unlock';
import type { SessionParams } from './session-params';

const testDomain = 'custody-gateway/mpc/test-signature/v1\0';

export interface EcdsaHandlerOptions extends EcdsaProtocolOptions {
  admission: Admission;
  bans: Pick<Bans, 'assertNotBanned' | 'ban'>;
  registry: ChainRegistry;
  orders: OrderVerifier;
  seen: SeenOrders;
  /** What reissues take the place of. */
  earlier: Pick<EarlierAttempts, 'prove'>;
  logger: Logger;
  /** For tests: adds families of their own. */
  getFamily?: GetFamily;
}

export interface SignTask {
  /** Signing payloads of the transaction. */
  payloads: number;
  /** A session to be run, or the signature of an earlier one. */
  task: SessionTask<Hex> | Recorded;
}

/**
 * What a node does in sessions of threshold ECDSA, as initiator and as peer. No digest is accepted from outside: it is computed
 * from a verified transaction or, for a test signature, from the session id.
 */
export class EcdsaHandler {
  private readonly protocol: EcdsaProtocol;

  constructor(private readonly options: EcdsaHandlerOptions) {
    this.protocol = new EcdsaProtocol(options);
  }

  /** This node's own verification of a peer's proposal. @throws GatewayError when it refuses to take part. */
  async acceptProposal(params: SessionParams, statement?: SignedStatement): Promise<SessionTask<unknown> | Recorded> {
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

  toSessionParams(kind: SessionParams['kind'], participants: readonly NodeIndex[], request: unknown): SessionParams {
    return {
      protocol: ecdsaProtocol,
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
    await this.options.seen.add({ claims, compact: order });
    return { run: (session) => this.protocol.generate(keyId, clientId, session), dispose: () => undefined };
  }

  /**
   * Signs a digest made of key id and session id: proves that two shares fit together, and has no other use. The number per key is
   * limited, and a bound key makes none. The initiator counts once the peer has agreed: one that is down must not use up the tests.
   * @throws GatewayError order_refused, key_peer_banned or journal_behind
   */
  async test({ order }: TestSignRequest, other: NodeIndex, role: 'initiator' | 'peer'): Promise<SessionTask<void>> {
    const { admission, bans, orders } = this.options;
    const { claims } = await orders.verify(order, ['generate_key']);
    const { key_id: keyId } = claims;
    admission.assertReady();
    const permit = () => bans.assertNotBanned(keyId, other);
    await permit();
    const key = await unlockKey(this.options, keyId, ecdsaProtocol);
    if (role === 'peer')
      await this.countTest(keyId).catch((error: unknown) => {
        wipe(key);
        throw error;
      });
    const run = async (session: Session): Promise<void> => {
      if (role === 'initiator') await this.countTest(keyId);
      const digest = createHash('sha256').update(testDomain).update(`${keyId}\0`).update(session.id).digest();
      await this.protocol.sign(
        session,
        key,
        other,
        { digest, path: 'm', publicKey: key.publicKey },
        { begun: Promise.resolve(), permit },
      );
    };
    return { run, dispose: () => wipe(key), keyId };
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
    const { orders, registry, earlier, admission, bans, logger, getFamily: families = getFamily } = this.options;
    const order = await orders.verify(transaction.order, signingOrderKinds);
    // asks a chain: before the shares are opened
    const proofs = await earlier.prove(order.claims);
    const { client_id: clientId, signers } = order.claims;
    const keyIds = signers.map(({ key_id: keyId }) => keyId);
    const keys = await unlockKeys(this.options, keyIds, ecdsaProtocol);
    const dispose = () => keys.forEach(wipe);
    try {
      assertBound(clientId, keys);
      const verified = verifyIntent(order.claims, transaction.unsigned, { registry, getFamily: families, keys });
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
        assertNotBanned: () => bans.assertNotBanned(key.keyId, peer),
        sign: (session, permits) => this.protocol.sign(session, key, peer, signed, permits),
        isValid: (signature) => verifies(signature, signed),
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

function verifies(signature: Hex, { digest, publicKey }: VerifiedPayload): boolean {
  const decoded = decodeSignature(signature);
  return decoded !== undefined && recoversTo(publicKey, decoded, digest);
}

function parse(request: string): unknown {
  try {
    return JSON.parse(request);
  } catch {
    throw new GatewayError('invalid_parameter', 'the request is not JSON');
  }
}

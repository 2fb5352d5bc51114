import { createHash } from 'node:crypto';
import { getFamily } from '../chains/families';
import type { GetFamily } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import { type VerifiedPayload, type VerifiedTransaction, verifyIntent } from './verify-intent';
import type { Hex } from '../chains/types';
import type { GenerateKeyRequest, GroupKey, TestSignRequest } from '../messages/key-generation';
import type { TransferIntent } from '../messages/signing';
import type { Admission, AdmissionRequest } from './admission';
import type { Bans } from './bans';
import { guardedRun } from './guarded-run';
import { ProtocolError, type KeygenResult, type ProtocolEngine } from './protocol/engine';
import type { NodeIndex } from '../messages/nodes';
import type { ProtocolName, ProtocolRun, RoundMessages } from './protocols';
import { readGenerateKey, readSignPayload, readTestSign, type SignPayloadRequest } from './requests';
import { decodeSignature, encodeSignature, recoverKey } from './secp256k1';
import type { Session } from './session';
import type { Recorded, SessionTask } from './session-manager';
import { signatureTask } from './signature-task';
import type { SignedStatement } from './statement';
import { wipe, type ShareStore, type UnlockedKey } from './store';
import type { SessionParams } from './session-params';

const protocol: ProtocolName = 'ecdsa-secp256k1';
const testDomain = 'custody-gateway/mpc/test-signature/v1\0';

export interface EcdsaHandlerOptions {
  self: NodeIndex;
  engine: Pick<ProtocolEngine, 'keygen' | 'sign'>;
  store: ShareStore;
  admission: Admission;
  bans: Pick<Bans, 'assertNotBanned' | 'ban'>;
  registry: ChainRegistry;
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
  constructor(private readonly options: EcdsaHandlerOptions) {}

  /** This node's own verification of a peer's proposal. @throws GatewayError when it refuses to take part. */
  async acceptProposal(params: SessionParams, statement?: SignedStatement): Promise<SessionTask<unknown> | Recorded> {
    const request = parse(params.request);
    switch (params.kind) {
      case 'keygen':
        return this.keygen(readGenerateKey(request));
      case 'test': {
        const test = readTestSign(request);
        this.assertIsSelf(test.peer);
        return this.test(test, params.initiator);
      }
      case 'sign': {
        const sign = readSignPayload(request);
        this.assertIsSelf(sign.transaction.peer);
        return (await this.sign(sign, params.initiator, params.initiator, statement)).task;
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
  async keygen({ keyId, clientId }: GenerateKeyRequest): Promise<SessionTask<GroupKey>> {
    if (await this.options.store.has(keyId)) throw new GatewayError('invalid_parameter', `key id ${keyId} is already used`);
    return { run: (session) => this.generate(keyId, clientId ?? null, session), dispose: () => undefined };
  }

  /** Signs a digest made of key id and session id: proves that two shares fit together, and has no other use. */
  async test({ keyId }: TestSignRequest, other: NodeIndex): Promise<SessionTask<void>> {
    const { admission, bans } = this.options;
    admission.assertReady();
    const permit = () => bans.assertNotBanned(keyId, other);
    await permit();
    const key = await this.unlock(keyId);
    const run = async (session: Session): Promise<void> => {
      const digest = createHash('sha256').update(testDomain).update(`${keyId}\0`).update(session.id).digest();
      await this.signature(session, key, other, { digest, path: 'm', publicKey: key.publicKey }, permit);
    };
    return { run, dispose: () => wipe(key), keyId };
  }

  /**
   * Signs one payload of a transaction that this node has verified. Facts that need a chain (that an earlier attempt is impossible)
   * will be proven here, before the verification. `statement`: the peer's journal entry.
   * @throws GatewayError intent_mismatch, address_blacklisted, and what the journal refuses (src/mpc/admission.ts)
   */
  async sign(
    { transaction, payload }: SignPayloadRequest,
    other: NodeIndex,
    initiator: NodeIndex,
    statement?: SignedStatement,
  ): Promise<SignTask> {
    const keys = await this.unlockAll(transaction.signers.map(({ keyId }) => keyId));
    const dispose = () => keys.forEach(wipe);
    try {
      const { registry, getFamily: families = getFamily } = this.options;
      const verified = verifyIntent(transaction, { registry, getFamily: families, keys });
      await this.refuseBlacklisted(transaction.intent, verified, keys);
      const signed = verified.payloads[payload];
      const key = signed && keys.get(signed.keyId);
      if (!key) throw new GatewayError('intent_mismatch', 'payload: the transaction has no such signing payload');
      const { admission, bans, logger } = this.options;
      const parties = { peer: other, initiator };
      const admitted = await admission.admit(toAdmission(transaction, payload, verified, key, parties), statement);
      const payloads = verified.payloads.length;
      if ('recorded' in admitted) {
        dispose();
        return { payloads, task: admitted };
      }
      const { entry } = admitted;
      const sign = (session: Session, begun: Promise<void>) =>
        this.signature(session, key, other, signed, async () => {
          await begun;
          if (!entry.isUnfrozen) await bans.assertNotBanned(key.keyId, other);
        });
      const isValid = (signature: Hex) => verifies(signature, signed);
      return { payloads, task: signatureTask({ admission, entry, sign, isValid, dispose, logger }) };
    } catch (error) {
      dispose();
      throw error;
    }
  }

  /** Uses this node's own copy of the client's blacklist, independent of the API and the worker. */
  private async refuseBlacklisted(
    intent: TransferIntent,
    { recipientKeys }: VerifiedTransaction,
    keys: ReadonlyMap<string, UnlockedKey>,
  ): Promise<void> {
    const { blacklist } = this.options.store;
    const clientIds = new Set([...keys.values()].flatMap(({ clientId }) => clientId ?? intent.clientId ?? []));
    for (const clientId of clientIds) {
      for (const recipientKey of recipientKeys) {
        if (await blacklist.has(clientId, intent.chain, recipientKey))
          throw new GatewayError('address_blacklisted', `node ${this.options.self} has the recipient on the client's blacklist`);
      }
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
    permit: () => Promise<void>,
  ): Promise<Hex> {
    const { engine, self } = this.options;
    const opened = engine.sign({ sessionId: session.id, party: self, peer, share: key.share, path, digest });
    const guarded = opened.then((run) => guardedRun(run, permit));
    const signature = await this.reportMisbehaviour(session, key.keyId, guarded);
    if (!recoverKey(signature, digest)?.equals(publicKey))
      throw new GatewayError('signers_unavailable', 'the signature does not recover to the key: it is not used');
    return encodeSignature(signature);
  }

  /** Runs the protocol. A peer whose message fails a check in a way that hints at an attack is banned before it is informed. */
  private async reportMisbehaviour<R>(session: Session, keyId: string, protocolRun: Promise<ProtocolRun<R>>): Promise<R> {
    try {
      return await session.run(await protocolRun);
    } catch (error) {
      if (error instanceof ProtocolError && error.code === 'ban' && error.culprit)
        await this.options.bans.ban(keyId, error.culprit, error.message);
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

function toAdmission(
  { intent, attempt, kind, signers, unsigned }: SignPayloadRequest['transaction'],
  payload: number,
  { payloads, resources, spends }: VerifiedTransaction,
  { keyId, clientId }: UnlockedKey,
  parties: Pick<AdmissionRequest, 'peer' | 'initiator'>,
): AdmissionRequest {
  const ordered = JSON.stringify([intent, attempt, kind, signers, unsigned]);
  return {
    ...parties,
    txId: intent.txId,
    attempt,
    kind,
    orderHash: createHash('sha256').update(ordered).digest('hex'),
    orderSeq: 0,
    resources,
    digests: payloads.map(({ digest }) => hex(digest)),
    payload,
    keyId,
    clientId: clientId ?? intent.clientId ?? null,
    spends,
  };
}

function verifies(signature: Hex, { digest, publicKey }: VerifiedPayload): boolean {
  const decoded = decodeSignature(signature);
  return decoded !== undefined && (recoverKey(decoded, digest)?.equals(publicKey) ?? false);
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

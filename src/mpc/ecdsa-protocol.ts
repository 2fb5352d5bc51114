import type { Hex, KeyProtocol } from '../chains/types';
import type { GroupKey } from '../messages/key-generation';
import type { NodeIndex } from '../messages/nodes';
import { GatewayError } from '../platform/errors';
import { agreeOnKey } from './agree-on-key';
import type { Bans } from './bans';
import { guardedRun, type RunPermits } from './guarded-run';
import { ProtocolError, type ProtocolEngine } from './protocol/engine';
import type { ProtocolRun } from './protocols';
import { encodeSignature, recoversTo } from './secp256k1';
import type { Session } from './session';
import type { ShareStore, UnlockedKey } from './store';

export const ecdsaProtocol: KeyProtocol = 'ecdsa-secp256k1';

export interface EcdsaProtocolOptions {
  self: NodeIndex;
  engine: Pick<ProtocolEngine, 'keygen' | 'sign'>;
  store: ShareStore;
  bans: Pick<Bans, 'ban'>;
}

/** What is signed, and the key that has to result. */
export interface SigningInput {
  /** 32 bytes. */
  digest: Buffer;
  /** BIP-32, from the group's key. */
  path: string;
  /** 33 bytes, of the key at this path. */
  publicKey: Buffer;
}

/** This node's part in the protocol, within a session. */
export class EcdsaProtocol {
  constructor(private readonly options: EcdsaProtocolOptions) {}

  /** Makes a key, which is stored once all nodes agree on it. */
  async generate(keyId: string, clientId: string | null, session: Session): Promise<GroupKey> {
    const { engine, self, store } = this.options;
    const result = await this.run(session, keyId, engine.keygen({ sessionId: session.id, party: self }));
    return agreeOnKey(store, self, session, { keyId, clientId, protocol: ecdsaProtocol, result });
  }

  /** @throws GatewayError signers_unavailable for a signature by another key. */
  async sign(
    session: Session,
    key: UnlockedKey,
    peer: NodeIndex,
    { digest, path, publicKey }: SigningInput,
    permits: RunPermits,
  ): Promise<Hex> {
    const { engine, self } = this.options;
    const opened = engine.sign({ sessionId: session.id, party: self, peer, share: key.share, path, digest });
    const guarded = opened.then((run) => guardedRun(run, permits));
    const signature = await this.run(session, key.keyId, guarded);
    if (!recoversTo(publicKey, signature, digest))
      throw new GatewayError('signers_unavailable', 'the signature does not recover to the key: it is not used');
    return encodeSignature(signature);
  }

  /** Runs the protocol. A peer whose message fails a check in a way that hints at an attack is banned before it is informed. */
  private async run<R>(session: Session, keyId: string, protocolRun: Promise<ProtocolRun<R>>): Promise<R> {
    try {
      return await session.run(await protocolRun);
    } catch (error) {
      if (error instanceof ProtocolError && error.code === 'ban' && error.culprit)
        await this.options.bans.ban(keyId, error.culprit, error.message);
      throw error;
    }
  }
}

import type { Hex } from '../chains/types';
import type { GroupKey } from '../messages/key-generation';
import type { NodeIndex } from '../messages/nodes';
import { GatewayError } from '../platform/errors';
import { agreeOnKey } from './agree-on-key';
import { guardedRun, type RunPermits } from './guarded-run';
import { signRounds } from './protocol/engine';
import { encodeSignature, recoversTo } from './secp256k1';
import type { Session } from './session';
import type { SigningInput } from './signatures';
import type { UnlockedKey } from './store';
import { type ProtocolOptions, runProtocol, type ThresholdProtocol } from './threshold-protocol';

/** Threshold ECDSA: a signature is r (32 bytes), s (32 bytes, low) and the recovery id. */
export class EcdsaProtocol implements ThresholdProtocol {
  readonly name = 'ecdsa-secp256k1';
  readonly signRounds = signRounds;

  constructor(private readonly options: ProtocolOptions) {}

  async generate(keyId: string, clientId: string | null, session: Session): Promise<GroupKey> {
    const { engine, self, store, bans } = this.options;
    const result = await runProtocol(bans, session, keyId, engine.keygen({ sessionId: session.id, party: self }));
    return agreeOnKey(store, self, session, { keyId, clientId, protocol: this.name, result });
  }

  async sign(
    session: Session,
    key: UnlockedKey,
    peer: NodeIndex,
    { digest, path, publicKey }: SigningInput,
    permits: RunPermits,
  ): Promise<Hex> {
    const { engine, self, bans } = this.options;
    const opened = engine.sign({ sessionId: session.id, party: self, peer, share: key.share, path, digest });
    const guarded = opened.then((run) => guardedRun(run, permits));
    const signature = await runProtocol(bans, session, key.keyId, guarded);
    if (!recoversTo(publicKey, signature, digest))
      throw new GatewayError('signers_unavailable', 'the signature does not recover to the key: it is not used');
    return encodeSignature(signature);
  }
}

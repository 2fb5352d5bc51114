import type { Hex } from '../chains/types';
import type { GroupKey } from '../messages/key-generation';
import type { NodeIndex } from '../messages/nodes';
import { GatewayError } from '../platform/errors';
import { toHex } from '../platform/hex';
import { agreeOnKey } from './agree-on-key';
import { verifiesEd25519 } from './ed25519';
import { guardedRun, type RunPermits } from './guarded-run';
import { frostSignRounds } from './protocol/engine';
import type { Session } from './session';
import type { SigningInput } from './signatures';
import type { UnlockedKey } from './store';
import { type ProtocolOptions, runProtocol, type ThresholdProtocol } from './threshold-protocol';

/** Threshold Ed25519 (FROST, RFC 9591): a signature has 64 bytes, as in RFC 8032. What is signed is the message, not its digest. */
export class FrostProtocol implements ThresholdProtocol {
  readonly name = 'frost-ed25519';
  readonly signRounds = frostSignRounds;

  constructor(private readonly options: ProtocolOptions) {}

  async generate(keyId: string, clientId: string | null, session: Session): Promise<GroupKey> {
    const { engine, self, store, bans } = this.options;
    const result = await runProtocol(bans, session, keyId, engine.frostKeygen({ sessionId: session.id, party: self }));
    return agreeOnKey(store, self, session, { keyId, clientId, protocol: this.name, result });
  }

  async sign(
    session: Session,
    key: UnlockedKey,
    peer: NodeIndex,
    { message, publicKey }: SigningInput,
    permits: RunPermits,
  ): Promise<Hex> {
    if (!message) throw new GatewayError('signers_unavailable', 'there is no message to sign');
    const { engine, self, bans } = this.options;
    const opened = engine.frostSign({ sessionId: session.id, party: self, peer, share: key.share, message });
    const guarded = opened.then((run) => guardedRun(run, permits));
    const signature = await runProtocol(bans, session, key.keyId, guarded);
    if (!verifiesEd25519(publicKey, signature, message))
      throw new GatewayError('signers_unavailable', 'the signature is not one of the key: it is not used');
    return toHex(signature);
  }
}

import type { Hex, KeyProtocol } from '../chains/types';
import type { GroupKey } from '../messages/key-generation';
import type { NodeIndex } from '../messages/nodes';
import type { Bans } from './bans';
import type { RunPermits } from './guarded-run';
import { ProtocolError, type ProtocolEngine } from './protocol/engine';
import type { ProtocolRun } from './protocols';
import type { Session } from './session';
import type { SigningInput } from './signatures';
import type { ShareStore, UnlockedKey } from './store';

/** This node's part in a threshold protocol, within a session. */
export interface ThresholdProtocol {
  readonly name: KeyProtocol;
  /** Message rounds of signing. */
  readonly signRounds: number;
  /** Makes a key, which is stored once all nodes agree on it. */
  generate(keyId: string, clientId: string | null, session: Session): Promise<GroupKey>;
  /** @throws GatewayError signers_unavailable for a signature by another key. */
  sign(session: Session, key: UnlockedKey, peer: NodeIndex, input: SigningInput, permits: RunPermits): Promise<Hex>;
}

export interface ProtocolOptions {
  self: NodeIndex;
  engine: Pick<ProtocolEngine, 'keygen' | 'sign' | 'frostKeygen' | 'frostSign'>;
  store: ShareStore;
  bans: Pick<Bans, 'ban'>;
}

/** Runs a protocol. A peer whose message fails a check in a way that hints at an attack is banned before it is informed. */
export async function runProtocol<R>(
  bans: Pick<Bans, 'ban'>,
  session: Session,
  keyId: string,
  protocolRun: Promise<ProtocolRun<R>>,
): Promise<R> {
  try {
    return await session.run(await protocolRun);
  } catch (error) {
    if (error instanceof ProtocolError && error.code === 'ban' && error.culprit)
      await bans.ban(keyId, error.culprit, error.message);
    throw error;
  }
}

import type { Hex, KeyProtocol } from '../chains/types';
import type { Session } from './session';
import type { SignedStatement } from './statement';

/** This node's part in a session, prepared after the request was verified. */
export interface SessionTask<R> {
  /** Of the key that is made or used; hashed into the session id. */
  protocol: KeyProtocol;
  /** Runs after the participants have agreed on the session id. */
  run(session: Session): Promise<R>;
  /** Wipes secrets; called exactly once, whether or not the task ran. */
  dispose(): void;
  /** The key whose share is used. */
  keyId?: string;
  /** This node's journal entry about the session, for the other participant. */
  statement?: SignedStatement;
  /** The other participant's. */
  onStatement?(statement: SignedStatement): void;
  /** In place of `run`: the other participant has the signature already. @throws GatewayError when it is none. */
  adopt?(recorded: Hex): Promise<R>;
}

/** A signature that this node has made before. */
export interface Recorded {
  recorded: Hex;
}

/** The parties of a two-of-three key. */
export type NodeIndex = 1 | 2 | 3;

/**
 * Why a session failed, which decides what the caller must do. In every case the session has ended and is freed; a retry is a new
 * session with a fresh session id.
 *
 * - `bad_message`: an argument, or a peer's message, is malformed, missing or of another round.
 * - `aborted`: the protocol failed without revealing anything, or the session was closed.
 * - `ban`: the culprit failed a check of signing, which reveals information about this party's reusable state. Signing with it again
 *   under the same share would let it extract the key: store the ban durably before anything else.
 * - `trapped`: the module failed while it processed this very session; its thread ends, and in phases 2 and 3 of signing it is a `ban`.
 * - `crashed`: the thread ended, with every session in it; a new thread runs the next session.
 * - `busy`: the limit of open sessions is reached; nothing was started.
 */
export type ProtocolErrorCode = 'bad_message' | 'aborted' | 'ban' | 'trapped' | 'crashed' | 'busy';

export class ProtocolError extends Error {
  readonly code: ProtocolErrorCode;
  /** The peer whose message failed; absent if that is not known or the caller is at fault. Always set with `ban`. */
  readonly culprit?: NodeIndex;

  constructor(code: ProtocolErrorCode, message: string, culprit?: NodeIndex) {
    super(message);
    this.name = 'ProtocolError';
    this.code = code;
    if (culprit !== undefined) this.culprit = culprit;
  }
}

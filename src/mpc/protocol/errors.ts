/** The parties of a two-of-three key. */
export type PartyIndex = 1 | 2 | 3;

/**
 * What the caller has to do about a failed session. Whatever the code, the session is over and freed; a retry is a new
 * session with a fresh session id.
 *
 * - `bad_message`: an argument, or a peer's message, is malformed, missing or of another round.
 * - `aborted`: the protocol failed without harm, or the session was closed.
 * - `ban`: the culprit failed a check of signing that reveals something of this party's reusable state. Signing with it
 *   again under the same share lets it extract the key: store the ban durably before anything else.
 * - `crashed`: the thread died, with every session in it; a new thread takes the next session.
 * - `busy`: as many sessions as allowed are open; nothing was started.
 */
export type ProtocolErrorCode = 'bad_message' | 'aborted' | 'ban' | 'crashed' | 'busy';

export class ProtocolError extends Error {
  readonly code: ProtocolErrorCode;
  /** The peer whose message failed; absent if it cannot be told or the fault is the caller's. Always there with `ban`. */
  readonly culprit?: PartyIndex;

  constructor(code: ProtocolErrorCode, message: string, culprit?: PartyIndex) {
    super(message);
    this.name = 'ProtocolError';
    this.code = code;
    if (culprit !== undefined) this.culprit = culprit;
  }
}

/**
 * Two-of-three threshold ECDSA on secp256k1 (Doerner, Kondi, Lee, shelat, "Threshold ECDSA in Three Rounds", DKLs23,
 * https://eprint.iacr.org/2023/765), one party's side. The cryptography is the WebAssembly module of native/threshold; here
 * are the threads it runs in and the limits on what enters it.
 *
 * Nothing here talks to anybody: the caller passes messages between parties, and must authenticate them first (session,
 * round, sender, recipient, body), for a bit flipped on the way looks like an attack by the peer and may end in a ban.
 */
import { ProtocolError, type PartyIndex } from './errors';
import { ThreadPool, type PooledSession } from './pool';

export { ProtocolError, type PartyIndex, type ProtocolErrorCode } from './errors';

/** Message rounds of key generation. */
export const keygenRounds = 4;
/** Message rounds of signing. */
export const signRounds = 3;
/** Largest message of a peer accepted, in bytes. The largest sent, the third of key generation, has 148 KB. */
export const maxMessageBytes = 256 * 1024;

export interface KeygenResult {
  /** Group public key: 33 bytes, SEC1 compressed. */
  publicKey: Uint8Array;
  /** BIP-32 chain code of the group key, 32 bytes, equal at all parties. */
  chainCode: Uint8Array;
  /** This party's secret share, about 105 KB. */
  share: Uint8Array;
}

export interface SignResult {
  /** 32 bytes, big-endian. */
  r: Uint8Array;
  /** 32 bytes, big-endian, at most half the group order (BIP-62). */
  s: Uint8Array;
  /** Bit 0: y of R is odd; bit 1: x of R exceeded the group order. */
  recoveryId: 0 | 1 | 2 | 3;
}

/**
 * A session between its rounds. Used once and held in memory only. Any error ends and frees it; so does the result. What
 * was left unfinished must be closed.
 */
interface Rounds<Result> {
  /** Number of message rounds, fixed. */
  readonly rounds: number;
  /** The first round's messages, by recipient: one for every peer. */
  start(): Promise<Map<PartyIndex, Uint8Array>>;
  /**
   * Takes one message of every peer of the current round, by sender; gives the next round's messages or the result.
   *
   * @throws ProtocolError
   */
  next(incoming: Map<PartyIndex, Uint8Array>): Promise<{ messages: Map<PartyIndex, Uint8Array> } | { result: Result }>;
  /** Wipes and frees the session. Idempotent. */
  close(): Promise<void>;
}

export type KeygenRounds = Rounds<KeygenResult>;
export type SignRounds = Rounds<SignResult>;

export interface ProtocolEngineOptions {
  /** Threads for key generation, which blocks one for up to two seconds at a time. Default 1. */
  keygenThreads?: number;
  /** Threads for signing, 15 ms a signature. Default 1. */
  signThreads?: number;
  /** Key generations open at once. Default 4. */
  maxKeygenSessions?: number;
  /** Signing sessions open at once. Default 64. */
  maxSignSessions?: number;
}

/** Nice value of key generation threads: they give way to signing, and to the event loop. */
const keygenNiceness = 10;

const allParties: readonly PartyIndex[] = [1, 2, 3];

/** Wraps a session of the pool, with its peers' messages limited before they reach the thread. */
class PooledRounds<Result> implements Rounds<Result> {
  readonly rounds: number;
  readonly #session: PooledSession;
  readonly #peers: readonly PartyIndex[];

  constructor(rounds: number, session: PooledSession, peers: readonly PartyIndex[]) {
    this.rounds = rounds;
    this.#session = session;
    this.#peers = peers;
  }

  async start(): Promise<Map<PartyIndex, Uint8Array>> {
    const { messages } = (await this.#session.call('start')) as { messages: Map<PartyIndex, Uint8Array> };
    return messages;
  }

  async next(incoming: Map<PartyIndex, Uint8Array>): Promise<{ messages: Map<PartyIndex, Uint8Array> } | { result: Result }> {
    const copies = new Map<PartyIndex, Uint8Array<ArrayBuffer>>();
    for (const [from, message] of incoming) {
      const problem = !this.#peers.includes(from)
        ? 'sender takes no part in this session'
        : message.byteLength > maxMessageBytes
          ? 'message is too large'
          : undefined;
      if (problem) {
        await this.close();
        throw new ProtocolError('bad_message', problem, from);
      }
      copies.set(from, new Uint8Array(message));
    }
    const buffers = Array.from(copies.values(), (copy) => copy.buffer);
    const answer = await this.#session.call('next', { incoming: copies }, buffers);
    if ('result' in (answer as object)) this.#session.end();
    return answer as { messages: Map<PartyIndex, Uint8Array> } | { result: Result };
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

function requireBytes(bytes: Uint8Array, length: number, what: string): void {
  if (bytes.byteLength !== length) throw new ProtocolError('bad_message', `${what} must have ${length} bytes`);
}

function requireParty(party: PartyIndex): void {
  if (!allParties.includes(party)) throw new ProtocolError('bad_message', 'party is none of 1, 2, 3');
}

/** Runs this process's sessions. Signing and key generation have threads of their own, so that neither waits for the other. */
export class ProtocolEngine {
  readonly #keygen: ThreadPool;
  readonly #sign: ThreadPool;

  constructor(options: ProtocolEngineOptions = {}) {
    this.#keygen = new ThreadPool({
      name: 'key generation',
      threads: options.keygenThreads ?? 1,
      maxSessions: options.maxKeygenSessions ?? 4,
      niceness: keygenNiceness,
    });
    this.#sign = new ThreadPool({
      name: 'signing',
      threads: options.signThreads ?? 1,
      maxSessions: options.maxSignSessions ?? 64,
      niceness: 0,
    });
  }

  /**
   * Opens this party's side of a key generation by all three.
   *
   * @param o.sessionId 32 fresh random bytes, equal at all parties
   * @throws ProtocolError `busy`, or `bad_message` if an argument is wrong
   */
  async keygen(o: { sessionId: Uint8Array; party: PartyIndex }): Promise<KeygenRounds> {
    requireParty(o.party);
    requireBytes(o.sessionId, 32, 'session id');
    const session = await this.#keygen.open('keygen', { party: o.party, sessionId: new Uint8Array(o.sessionId) });
    return new PooledRounds<KeygenResult>(
      keygenRounds,
      session,
      allParties.filter((party) => party !== o.party),
    );
  }

  /**
   * Opens this party's side of a signature by two. The digest is bound into the first message.
   *
   * @param o.sessionId 32 fresh random bytes, equal at both parties
   * @param o.share what key generation gave this party; copied, and the copy is wiped
   * @param o.path non-hardened BIP-32 path below the group key, such as `m/60/0`; `m` is the group key itself
   * @param o.digest 32 bytes
   * @throws ProtocolError `busy`, or `bad_message` without culprit if an argument is wrong or the share is damaged
   */
  async sign(o: {
    sessionId: Uint8Array;
    party: PartyIndex;
    peer: PartyIndex;
    share: Uint8Array;
    path: string;
    digest: Uint8Array;
  }): Promise<SignRounds> {
    requireParty(o.party);
    requireParty(o.peer);
    requireBytes(o.sessionId, 32, 'session id');
    requireBytes(o.digest, 32, 'digest');
    const share = new Uint8Array(o.share);
    const parameters = {
      party: o.party,
      peer: o.peer,
      path: o.path,
      share,
      sessionId: new Uint8Array(o.sessionId),
      digest: new Uint8Array(o.digest),
    };
    const session = await this.#sign.open('sign', parameters, [share.buffer]);
    return new PooledRounds<SignResult>(signRounds, session, [o.peer]);
  }

  /** Ends all threads; open sessions fail with `aborted`. Idempotent. */
  async close(): Promise<void> {
    await Promise.all([this.#keygen.close(), this.#sign.close()]);
  }
}

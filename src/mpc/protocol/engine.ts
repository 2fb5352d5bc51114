/**
 * Two-of-three threshold signatures, one party's side: ECDSA on secp256k1 (Doerner, Kondi, Lee, shelat, "Threshold ECDSA in Three
 * Rounds", DKLs23, https://eprint.iacr.org/2023/765) and Ed25519 (FROST, RFC 9591). The cryptography is in the WebAssembly module of
 * native/threshold; this file manages the threads it runs in and limits its input.
 *
 * There is no network access here: the caller transports the messages between the parties and must authenticate them first (session,
 * round, sender, recipient, body), because a bit flipped in transit looks like an attack by the peer and can result in a ban.
 */
import { maxSignedBytes } from '../../chains/key-protocols';
import { type NodeIndex, nodeIndexes } from '../../messages/nodes';
import type { ProtocolRun } from '../protocols';
import { ProtocolError } from './errors';
import { ThreadPool, verifyModule } from './pool';
import { PooledRun } from './pooled-run';

export { ProtocolError, type ProtocolErrorCode } from './errors';
export { maxMessageBytes } from './pooled-run';

/** Message rounds of key generation, by both protocols. */
export const keygenRounds = 4;
/** Message rounds of signing. */
export const signRounds = 3;
/** Message rounds of signing with FROST. */
export const frostSignRounds = 2;

export interface KeygenResult {
  /** Group public key: 33 bytes, SEC1 compressed; FROST: 32 bytes (RFC 8032). */
  publicKey: Uint8Array;
  /** BIP-32 chain code of the group key, 32 bytes, equal at all parties; FROST: none, for its keys have no children. */
  chainCode: Uint8Array;
  /** This party's secret share, about 105 KB; FROST: 162 bytes. */
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

export type KeygenRun = ProtocolRun<KeygenResult>;
export type SigningRun = ProtocolRun<SignResult>;
/** R (32 bytes) followed by S (32 bytes), as in RFC 8032. */
export type FrostSigningRun = ProtocolRun<Uint8Array>;

export interface ProtocolEngineOptions {
  /** Threads for key generation, which blocks a thread for up to two seconds at a time. Default 1. */
  keygenThreads?: number;
  /** Threads for signing with each peer; a signature takes 15 ms. Default 1. */
  signThreads?: number;
  /** Key generations open at once. Default 4. */
  maxKeygenSessions?: number;
  /** Key generations with FROST open at once; they have a thread of their own, for each takes 4 ms. Default 32. */
  maxFrostKeygenSessions?: number;
  /** Signing sessions open at once with each peer. Default 64. */
  maxSignSessions?: number;
}

/** Nice value of key generation threads: signing and the event loop have priority. */
const keygenNiceness = 10;

/** Rounds of signing whose messages are processed with the share's reusable state: phases 2 and 3. */
const guardedRounds = 2;

function requireBytes(bytes: Uint8Array, length: number, what: string): void {
  if (bytes.byteLength !== length) throw new ProtocolError('bad_message', `${what} must have ${length} bytes`);
}

function requireParty(party: NodeIndex): void {
  if (!nodeIndexes.includes(party)) throw new ProtocolError('bad_message', 'party must be 1, 2 or 3');
}

/** A copy that no thread has taken: transferred ones are empty here. */
function wipeCopy(share: Uint8Array): void {
  if (share.byteLength > 0) share.fill(0);
}

/**
 * Runs the protocol sessions of this process. Signing and key generation use separate threads, so that neither waits for the other;
 * each peer has threads of its own for signing, so that no message of one harms a session with the other.
 */
export class ProtocolEngine {
  readonly #keygen: ThreadPool;
  readonly #frostKeygen: ThreadPool;
  readonly #sign: ReadonlyMap<NodeIndex, ThreadPool>;

  /** @throws Error when the committed module was changed: a node with another one does not start. */
  constructor(options: ProtocolEngineOptions = {}) {
    verifyModule();
    this.#keygen = new ThreadPool({
      name: 'key generation',
      threads: options.keygenThreads ?? 1,
      maxSessions: options.maxKeygenSessions ?? 4,
      niceness: keygenNiceness,
    });
    this.#frostKeygen = new ThreadPool({
      name: 'key generation with FROST',
      threads: 1,
      maxSessions: options.maxFrostKeygenSessions ?? 32,
      niceness: 0,
    });
    const signing = (peer: NodeIndex) => ({
      name: `signing with node ${peer}`,
      threads: options.signThreads ?? 1,
      maxSessions: options.maxSignSessions ?? 64,
      niceness: 0,
    });
    this.#sign = new Map(nodeIndexes.map((peer) => [peer, new ThreadPool(signing(peer))]));
  }

  /**
   * Opens this party's side of a key generation by all three parties.
   *
   * @param o.sessionId 32 fresh random bytes, equal at all parties
   * @throws ProtocolError `busy`, or `bad_message` if an argument is wrong
   */
  async keygen(o: { sessionId: Uint8Array; party: NodeIndex }): Promise<KeygenRun> {
    requireParty(o.party);
    requireBytes(o.sessionId, 32, 'session id');
    const session = await this.#keygen.open('keygen', { party: o.party, sessionId: new Uint8Array(o.sessionId) });
    return new PooledRun<KeygenResult>(
      keygenRounds,
      session,
      nodeIndexes.filter((party) => party !== o.party),
    );
  }

  /**
   * Opens this party's side of a signature by two parties. The first message commits to the digest.
   *
   * @param o.sessionId 32 fresh random bytes, equal at both parties
   * @param o.share this party's result of key generation; copied, and the copy is wiped
   * @param o.path non-hardened BIP-32 path below the group key, such as `m/60/0`; `m` is the group key itself
   * @param o.digest 32 bytes
   * @throws ProtocolError `busy`, or `bad_message` without culprit if an argument is wrong or the share is corrupt
   */
  async sign(o: {
    sessionId: Uint8Array;
    party: NodeIndex;
    peer: NodeIndex;
    share: Uint8Array;
    path: string;
    digest: Uint8Array;
  }): Promise<SigningRun> {
    requireParty(o.party);
    requireBytes(o.sessionId, 32, 'session id');
    requireBytes(o.digest, 32, 'digest');
    const pool = this.#sign.get(o.peer);
    if (!pool) throw new ProtocolError('bad_message', 'peer must be 1, 2 or 3');
    const share = new Uint8Array(o.share);
    const parameters = {
      party: o.party,
      peer: o.peer,
      path: o.path,
      share,
      sessionId: new Uint8Array(o.sessionId),
      digest: new Uint8Array(o.digest),
    };
    const session = await pool.open('sign', parameters, [share.buffer]).finally(() => wipeCopy(share));
    return new PooledRun<SignResult>(signRounds, session, [o.peer], guardedRounds);
  }

  /**
   * As `keygen`, of an Ed25519 key.
   *
   * @throws ProtocolError `busy`, or `bad_message` if an argument is wrong
   */
  async frostKeygen(o: { sessionId: Uint8Array; party: NodeIndex }): Promise<KeygenRun> {
    requireParty(o.party);
    requireBytes(o.sessionId, 32, 'session id');
    const session = await this.#frostKeygen.open('frostKeygen', { party: o.party, sessionId: new Uint8Array(o.sessionId) });
    return new PooledRun<KeygenResult>(
      keygenRounds,
      session,
      nodeIndexes.filter((party) => party !== o.party),
    );
  }

  /**
   * Opens this party's side of an Ed25519 signature by two parties. Everything that is sent names session, key and message. The state has
   * nothing that outlives a session: a peer that cheats is named and learns nothing, so no failure is a `ban`.
   *
   * @param o.sessionId 32 fresh random bytes, equal at both parties
   * @param o.share this party's result of key generation; copied, and the copy is wiped
   * @param o.message what is signed, 1 to 65,536 bytes
   * @throws ProtocolError `busy`, or `bad_message` without culprit if an argument is wrong or the share is corrupt
   */
  async frostSign(o: {
    sessionId: Uint8Array;
    party: NodeIndex;
    peer: NodeIndex;
    share: Uint8Array;
    message: Uint8Array;
  }): Promise<FrostSigningRun> {
    requireParty(o.party);
    requireBytes(o.sessionId, 32, 'session id');
    if (o.message.byteLength < 1 || o.message.byteLength > maxSignedBytes)
      throw new ProtocolError('bad_message', `message must have 1 to ${maxSignedBytes} bytes`);
    const pool = this.#sign.get(o.peer);
    if (!pool) throw new ProtocolError('bad_message', 'peer must be 1, 2 or 3');
    const share = new Uint8Array(o.share);
    const parameters = {
      party: o.party,
      peer: o.peer,
      share,
      sessionId: new Uint8Array(o.sessionId),
      message: new Uint8Array(o.message),
    };
    const session = await pool.open('frostSign', parameters, [share.buffer]).finally(() => wipeCopy(share));
    return new PooledRun<Uint8Array>(frostSignRounds, session, [o.peer]);
  }

  /**
   * Ends what `keygen` runs, in the middle of a step that takes seconds if need be: open sessions, and those to come, fail with `aborted` and
   * the reason. Signatures and FROST, whose steps take milliseconds, go on. Idempotent.
   */
  endKeygen(reason: string): Promise<void> {
    return this.#keygen.close(reason);
  }

  /** Ends all threads; open sessions fail with `aborted`. Idempotent. */
  async close(): Promise<void> {
    await Promise.all([this.#keygen.close(), this.#frostKeygen.close(), ...[...this.#sign.values()].map((pool) => pool.close())]);
  }
}

import type { NodeIndex } from '../../messages/nodes';
import type { ProtocolRun, RoundMessages } from '../protocols';
import { ProtocolError } from './errors';
import type { PooledSession } from './pool';

/** Largest accepted message of a peer, in bytes. The largest one sent, the third of ECDSA key generation, has 148 KB. */
export const maxMessageBytes = 256 * 1024;

/** Wraps a session of the pool and checks the peers' messages before they reach the thread. */
export class PooledRun<Result> implements ProtocolRun<Result> {
  readonly rounds: number;
  readonly #session: PooledSession;
  readonly #peers: readonly NodeIndex[];
  readonly #guarded: number;
  #round = 0;

  /** `guarded`: rounds in which a peer whose message makes the module fail is banned. */
  constructor(rounds: number, session: PooledSession, peers: readonly NodeIndex[], guarded = 0) {
    this.rounds = rounds;
    this.#session = session;
    this.#peers = peers;
    this.#guarded = guarded;
  }

  async start(): Promise<RoundMessages> {
    const { messages } = (await this.#session.call('start')) as { messages: RoundMessages };
    return messages;
  }

  async next(incoming: RoundMessages): Promise<{ messages: RoundMessages } | { result: Result }> {
    const copies = new Map<NodeIndex, Uint8Array<ArrayBuffer>>();
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
    this.#round += 1;
    const output = await this.#session.call('next', { incoming: copies }, buffers).catch((error: unknown) => {
      throw this.#blame(error);
    });
    if ('result' in (output as object)) this.#session.end();
    return output as { messages: RoundMessages } | { result: Result };
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  /** A failure of the module can be brought about by a message as well as a failed check can. */
  #blame(error: unknown): unknown {
    const isTrap = error instanceof ProtocolError && error.code === 'trapped';
    return isTrap && this.#round <= this.#guarded ? new ProtocolError('ban', error.message, this.#peers[0]) : error;
  }
}

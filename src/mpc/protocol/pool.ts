/** Threads that run protocol sessions, and the messages between them and the process (native/threshold/worker.cjs). */
import { createRequire } from 'node:module';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import type { NodeIndex } from '../../messages/nodes';
import { findInstalled } from '../../platform/installed-file';
import { ProtocolError, type ProtocolErrorCode } from './errors';

/** What opens a session. */
type Opening = 'keygen' | 'sign' | 'frostKeygen' | 'frostSign';
type Operation = Opening | 'start' | 'next' | 'close';

type Reply =
  | { id: number; value: unknown; error?: undefined }
  | { id: number; error: { code: ProtocolErrorCode; culprit?: NodeIndex; message: string } };

interface PendingCall {
  resolve(value: unknown): void;
  reject(error: ProtocolError): void;
}

export interface PoolOptions {
  /** What the threads do; used in messages. */
  name: string;
  threads: number;
  /** Sessions open at once, over all threads. */
  maxSessions: number;
  /** Nice value of the threads, 0 to 19: a higher value means a lower scheduling priority. */
  niceness: number;
}

const threadFile = (): string => findInstalled(path.join('native', 'threshold', 'worker.cjs'), __dirname);

/** The committed module is the one that the threads will load. @throws Error naming the file that differs. */
export function verifyModule(): void {
  const thread = threadFile();
  const { verifyModule: verify } = createRequire(thread)('./verify.cjs') as { verifyModule: (directory: string) => void };
  verify(path.join(path.dirname(thread), 'wasm'));
}

/** One thread. After its first uncaught error its calls and sessions fail and it is not used again. */
class Thread {
  sessions = 0;
  #failure: ProtocolError | undefined;
  readonly #worker: Worker;
  readonly #calls = new Map<number, PendingCall>();
  #lastId = 0;

  constructor(name: string, niceness: number) {
    this.#worker = new Worker(threadFile(), { name, workerData: { niceness } });
    this.#worker.on('message', (reply: Reply) => this.#settle(reply));
    this.#worker.on('error', (error) => this.fail(new ProtocolError('crashed', `${name} thread failed: ${error.message}`)));
    this.#worker.on('exit', () => this.fail(new ProtocolError('crashed', `${name} thread ended`)));
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Fails every open call and refuses further ones. Only the first reason counts. */
  fail(failure: ProtocolError): void {
    this.#failure ??= failure;
    for (const call of this.#calls.values()) call.reject(this.#failure);
    this.#calls.clear();
  }

  /** Sends an operation to the thread. Buffers in `transfer` are moved to it: the caller can no longer use them. */
  call(operation: Operation, session: number, parameters: object, transfer: ArrayBuffer[]): Promise<unknown> {
    if (this.#failure) return Promise.reject(this.#failure);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.#worker.postMessage({ ...parameters, id, operation, session }, transfer);
    });
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #settle(reply: Reply): void {
    const call = this.#calls.get(reply.id);
    this.#calls.delete(reply.id);
    if (!reply.error) return call?.resolve(reply.value);
    call?.reject(new ProtocolError(reply.error.code, reply.error.message, reply.error.culprit));
    if (reply.error.code !== 'trapped') return;
    // only the session that was being processed is to blame; the others have lost their instance
    this.fail(new ProtocolError('crashed', 'the module failed in another session'));
    void this.terminate();
  }
}

/** A session in a thread. The first error, the result and `close` end it and free its slot. */
export class PooledSession {
  readonly #id: number;
  readonly #thread: Thread;
  readonly #onEnd: () => void;
  #ended = false;

  constructor(id: number, thread: Thread, onEnd: () => void) {
    this.#id = id;
    this.#thread = thread;
    this.#onEnd = onEnd;
  }

  /**
   * @throws ProtocolError as reported by the thread; `aborted` if the session has ended.
   */
  async call(operation: Operation, parameters: object = {}, transfer: ArrayBuffer[] = []): Promise<unknown> {
    if (this.#ended) throw new ProtocolError('aborted', 'the session has ended');
    try {
      return await this.#thread.call(operation, this.#id, parameters, transfer);
    } catch (error) {
      // The thread has already freed the session, or has ended.
      this.end();
      throw error;
    }
  }

  /** Frees the slot without a call to the thread, which has already freed the session. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd();
  }

  async close(): Promise<void> {
    if (this.#ended) return;
    try {
      await this.call('close');
    } catch {
      // A thread that has failed has no sessions left to free.
    } finally {
      this.end();
    }
  }
}

/** A fixed number of threads, each started when first needed and replaced after a failure. */
export class ThreadPool {
  readonly #options: PoolOptions;
  readonly #threads: (Thread | undefined)[];
  #openSessions = 0;
  #lastSession = 0;
  #closed: ProtocolError | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#threads = Array.from({ length: options.threads }, () => undefined);
  }

  /**
   * Opens a session in the thread with the fewest sessions.
   *
   * @throws ProtocolError `busy` if `maxSessions` are open, `aborted` after `close`, else as reported by the thread.
   */
  async open(operation: Opening, parameters: object, transfer: ArrayBuffer[] = []): Promise<PooledSession> {
    if (this.#closed) throw this.#closed;
    const { name, maxSessions } = this.#options;
    if (this.#openSessions >= maxSessions) throw new ProtocolError('busy', `${maxSessions} ${name} sessions are open`);
    const thread = this.#leastUsed();
    thread.sessions += 1;
    this.#openSessions += 1;
    this.#lastSession += 1;
    const session = new PooledSession(this.#lastSession, thread, () => {
      thread.sessions -= 1;
      this.#openSessions -= 1;
    });
    await session.call(operation, parameters, transfer);
    return session;
  }

  /** Ends every thread, also in the middle of a step; open calls fail with `aborted` and the first reason. Idempotent. */
  async close(reason = 'the engine is closed'): Promise<void> {
    this.#closed ??= new ProtocolError('aborted', reason);
    const threads = this.#threads.filter((thread) => thread !== undefined);
    for (const thread of threads) thread.fail(this.#closed);
    await Promise.all(threads.map((thread) => thread.terminate()));
  }

  #leastUsed(): Thread {
    const { name, niceness } = this.#options;
    let best: Thread | undefined;
    for (const [index, thread] of this.#threads.entries()) {
      if (!thread || thread.hasFailed) {
        // An idle thread is preferred to starting a new one.
        if (best?.sessions === 0) continue;
        best = new Thread(name, niceness);
        this.#threads[index] = best;
      } else if (!best || thread.sessions < best.sessions) best = thread;
    }
    if (!best) throw new RangeError(`${name}: a pool needs at least one thread`);
    return best;
  }
}

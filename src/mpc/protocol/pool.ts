/** Threads that run protocol sessions, and what is said between them and the process (native/threshold/worker.cjs). */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { ProtocolError, type PartyIndex, type ProtocolErrorCode } from './errors';

type Operation = 'keygen' | 'sign' | 'start' | 'next' | 'close';

type Reply =
  | { id: number; value: unknown; error?: undefined }
  | { id: number; error: { code: ProtocolErrorCode; culprit?: PartyIndex; message: string } };

interface Call {
  resolve(value: unknown): void;
  reject(error: ProtocolError): void;
}

export interface PoolOptions {
  /** For messages: what the threads do. */
  name: string;
  threads: number;
  /** Sessions open at once, over all threads. */
  maxSessions: number;
  /** Added to the threads' scheduling priority number, 0 to 19: the higher, the later they get their turn. */
  niceness: number;
}

/** The sources and the compiled output lie at different depths below the project root. */
function threadFile(): string {
  const relative = path.join('native', 'threshold', 'worker.cjs');
  for (let folder = __dirname; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const candidate = path.join(folder, relative);
    if (existsSync(candidate)) return candidate;
  }
  throw new Error(`${relative} was not found above ${__dirname}: the installation is incomplete`);
}

/** One thread. It is dead after its first uncaught error; its calls and sessions then fail and it is never used again. */
class Thread {
  sessions = 0;
  #failure: ProtocolError | undefined;
  readonly #worker: Worker;
  readonly #calls = new Map<number, Call>();
  #lastId = 0;

  constructor(name: string, niceness: number) {
    this.#worker = new Worker(threadFile(), { name, workerData: { niceness } });
    this.#worker.on('message', (reply: Reply) => this.#settle(reply));
    this.#worker.on('error', (error) => this.fail(new ProtocolError('crashed', `${name} thread died: ${error.message}`)));
    this.#worker.on('exit', () => this.fail(new ProtocolError('crashed', `${name} thread ended`)));
  }

  get dead(): boolean {
    return this.#failure !== undefined;
  }

  /** Fails every open call and refuses further ones. The first reason stays. */
  fail(failure: ProtocolError): void {
    this.#failure ??= failure;
    for (const call of this.#calls.values()) call.reject(this.#failure);
    this.#calls.clear();
  }

  /** Has the thread do something. Buffers in `moved` are gone for the caller afterwards. */
  call(operation: Operation, session: number, parameters: object, moved: ArrayBuffer[]): Promise<unknown> {
    if (this.#failure) return Promise.reject(this.#failure);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.#worker.postMessage({ ...parameters, id, operation, session }, moved);
    });
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #settle(reply: Reply): void {
    const call = this.#calls.get(reply.id);
    this.#calls.delete(reply.id);
    if (reply.error) call?.reject(new ProtocolError(reply.error.code, reply.error.message, reply.error.culprit));
    else call?.resolve(reply.value);
  }
}

/** A session in a thread. The first error, the result and `close` all end it and give its slot back. */
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
   * @throws ProtocolError as the thread says; `aborted` if the session is over.
   */
  async call(operation: Operation, parameters: object = {}, moved: ArrayBuffer[] = []): Promise<unknown> {
    if (this.#ended) throw new ProtocolError('aborted', 'session is over');
    try {
      return await this.#thread.call(operation, this.#id, parameters, moved);
    } catch (error) {
      // The thread has freed the session already, or is gone.
      this.end();
      throw error;
    }
  }

  /** Gives the slot back without asking the thread, which has freed the session by itself. */
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
      // A dead thread has no sessions left to free.
    } finally {
      this.end();
    }
  }
}

/** A fixed number of threads, each started when first needed and replaced after it died. */
export class ThreadPool {
  readonly #options: PoolOptions;
  readonly #threads: (Thread | undefined)[];
  #openSessions = 0;
  #lastSession = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#threads = Array.from({ length: options.threads }, () => undefined);
  }

  /**
   * Opens a session in the thread with the fewest.
   *
   * @throws ProtocolError `busy` if `maxSessions` are open, `aborted` after `close`, else as the thread says.
   */
  async open(operation: 'keygen' | 'sign', parameters: object, moved: ArrayBuffer[] = []): Promise<PooledSession> {
    if (this.#closed) throw new ProtocolError('aborted', 'engine is closed');
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
    await session.call(operation, parameters, moved);
    return session;
  }

  /** Ends every thread; open calls fail with `aborted`. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    const threads = this.#threads.filter((thread) => thread !== undefined);
    for (const thread of threads) thread.fail(new ProtocolError('aborted', 'engine is closed'));
    await Promise.all(threads.map((thread) => thread.terminate()));
  }

  #leastUsed(): Thread {
    const { name, niceness } = this.#options;
    let best: Thread | undefined;
    for (const [index, thread] of this.#threads.entries()) {
      if (!thread || thread.dead) {
        // An idle thread that lives is better than a new one.
        if (best?.sessions === 0) continue;
        best = new Thread(name, niceness);
        this.#threads[index] = best;
      } else if (!best || thread.sessions < best.sessions) best = thread;
    }
    if (!best) throw new RangeError(`${name}: a pool needs at least one thread`);
    return best;
  }
}

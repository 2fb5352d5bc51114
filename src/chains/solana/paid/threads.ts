import os from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { findInstalled } from '../../../platform/installed-file';
import { Semaphore } from '../../../platform/semaphore';
import { within } from '../../../platform/within';
import { NoAnswer } from '../../no-answer';
import { type Asked, type PaidBlock, readPaidBlock } from './read';
import { type Question, readReply, type Reply } from './reply';

/** Answers below it are read on the main thread: they take a few ms at most, and small chains have no others. */
const leastBytes = 256 * 1024;

interface Limits {
  /** At the same time; each reads one answer. */
  threads: number;
  /** Answers that wait for a thread; further ones are refused. */
  maxWaiting: number;
  maxWaitMs: number;
  /** For one answer, the start of the thread included. */
  readMs: number;
}

const usualLimits: Limits = {
  threads: Math.min(4, Math.max(1, os.availableParallelism() - 1)),
  // of two scans: that of a follower, and one that it has given up
  maxWaiting: 16,
  maxWaitMs: 60_000,
  // a busy block takes a tenth of a second
  readMs: 30_000,
};

/**
 * The young generation is larger than that of Node 20, and as large as that of Node 24 within 2 GB: less of what is made while an answer is read is
 * copied, which saves Node 20 a sixth of the processor time.
 * The old one has V8's own limit, as that of the main thread: memory that runs out within JSON.parse ends the whole process, whichever thread runs it.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 96 };

/** Threads run the compiled file, also where tests run the sources. */
const startWorker = (): Worker =>
  new Worker(findInstalled(path.join('dist', 'src', 'chains', 'solana', 'paid', 'thread.js'), __dirname), {
    name: 'solana-blocks',
    resourceLimits,
  });

/** Of whatever a thread throws; its message may have a part of the answer. */
function toReason(error: unknown): string {
  const { code, name = 'it has thrown something' } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  return typeof code === 'string' ? code : name;
}

/** Reads one answer at a time. Its errors end it. */
class Thread {
  hasEnded = false;
  private reading: { resolve: (reply: Reply) => void; reject: (error: Error) => void } | undefined;

  constructor(private readonly worker: Worker) {
    worker.on('message', (reply: Reply) => this.take()?.resolve(reply));
    worker.on('messageerror', () => this.fail('its result could not be passed on'));
    // without a listener it would end the process
    worker.on('error', (error: unknown) => this.fail(toReason(error)));
    worker.on('exit', () => {
      this.hasEnded = true;
      this.fail('it has ended');
    });
    // while it reads, the time limit keeps the process alive
    worker.unref();
  }

  /** The memory of `bytes` becomes the thread's: the caller has none of it any more. @throws NoAnswer when the thread fails. */
  read(bytes: Buffer, asked: Asked): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.reading = { resolve, reject };
      this.worker.postMessage({ bytes, asked } satisfies Question, [bytes.buffer as ArrayBuffer]);
    });
  }

  async end(): Promise<void> {
    await this.worker.terminate();
  }

  private fail(reason: string): void {
    this.take()?.reject(new NoAnswer(`the thread that read the response has failed: ${reason}`));
  }

  /** A result that is kept would be a whole block. */
  private take(): Thread['reading'] {
    const { reading } = this;
    this.reading = undefined;
    return reading;
  }
}

/** Threads that read blocks, each started when one is first needed, and replaced when it is needed again after it has failed. */
export class BlockThreads {
  private readonly idle: Thread[] = [];
  private readonly turns: Semaphore;

  constructor(
    private readonly limits: Limits = usualLimits,
    private readonly start = startWorker,
  ) {
    const { threads: permits, maxWaiting, maxWaitMs } = limits;
    this.turns = new Semaphore({ permits, maxWaiting, maxWaitMs });
  }

  /**
   * As `readPaidBlock`. The memory of `bytes` becomes the thread's.
   * @throws NoAnswer also when no thread is free in time, or one fails or takes too long
   */
  async read(bytes: Buffer, asked: Asked): Promise<PaidBlock | null> {
    if (!(await this.turns.acquire())) throw new NoAnswer('too many responses wait to be read');
    return readReply(await this.readInTurn(bytes, asked));
  }

  private async readInTurn(bytes: Buffer, asked: Asked): Promise<Reply> {
    let thread: Thread | undefined;
    try {
      thread = this.takeIdle() ?? this.startThread();
      const late = () => new NoAnswer('the response was not read in time');
      const reply = await within(thread.read(bytes, asked), this.limits.readMs, late);
      this.idle.push(thread);
      this.turns.release();
      return reply;
    } catch (error) {
      // until it has really ended it takes processor time and memory
      void Promise.resolve(thread?.end()).finally(() => this.turns.release());
      throw error;
    }
  }

  /** Not the endpoint's fault, as where the system has no thread left. */
  private startThread(): Thread {
    try {
      return new Thread(this.start());
    } catch (error) {
      throw new NoAnswer(`no thread to read the response could be started: ${(error as Error).message}`);
    }
  }

  private takeIdle(): Thread | undefined {
    for (let thread = this.idle.pop(); thread; thread = this.idle.pop()) if (!thread.hasEnded) return thread;
    return undefined;
  }
}

/** Of the process: all chains and endpoints share them. */
const threads = new BlockThreads();

/** As `readPaidBlock`; large answers in a thread, which takes the memory of `bytes`. @throws also what BlockThreads.read does */
export const readInThread = async (bytes: Buffer, asked: Asked): Promise<PaidBlock | null> =>
  bytes.length < leastBytes ? readPaidBlock(bytes, asked) : threads.read(bytes, asked);

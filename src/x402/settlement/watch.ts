import type { DataSource } from 'typeorm';
import { GatewayError } from '../../platform/errors';
import { WaitingRequests } from '../waiting-requests';
import { readSettlements, type SettlementState } from './state';

/** Between two looks at the settlements that somebody waits for. */
const everyMs = 50;

interface Waiter {
  until: number;
  resolve: (state: SettlementState) => void;
  reject: (error: unknown) => void;
}

/** Waits for the outcomes of settlements: one statement for all that requests of this process wait for, and none while nobody waits. */
export class SettlementWatch {
  private readonly waiters = new Map<string, Set<Waiter>>();
  private readonly waiting = new WaitingRequests();
  private timer: NodeJS.Timeout | undefined;
  private ending = false;

  constructor(private readonly database: DataSource) {}

  /**
   * Runs a request that waits: such requests use up what the process can answer at a time.
   * @throws GatewayError unavailable, before the request is run, when too many of all clients or of this one do.
   */
  async whileWaiting<T>(clientId: string, request: () => Promise<T>): Promise<T> {
    const leave = this.waiting.enter(clientId);
    if (!leave) throw new GatewayError('unavailable', 'Too many requests wait for settlements', { retryAfterSeconds: 1 });
    try {
      return await request();
    } finally {
      leave();
    }
  }

  /**
   * The state of a settlement once it is decided, at the latest after `ms`.
   * @throws the failure of the database
   */
  wait(txId: string, ms: number): Promise<SettlementState> {
    return new Promise((resolve, reject) => {
      const waiters = this.waiters.get(txId) ?? new Set();
      waiters.add({ until: performance.now() + ms, resolve, reject });
      this.waiters.set(txId, waiters);
      this.timer ??= setTimeout(() => void this.look(), 0);
    });
  }

  /** The process ends: nobody waits any longer, and what is not decided is pending. */
  hurry(): void {
    this.ending = true;
  }

  get isEnding(): boolean {
    return this.ending;
  }

  private async look(): Promise<void> {
    const txIds = [...this.waiters.keys()];
    try {
      const states = new Map((await readSettlements(this.database.manager, txIds)).map((state) => [state.txId, state]));
      for (const txId of txIds) this.tell(txId, states.get(txId));
    } catch (error) {
      // it may answer again before the others have waited enough
      for (const txId of txIds) this.end(txId, ({ reject }) => reject(error));
    }
    this.timer = this.waiters.size > 0 ? setTimeout(() => void this.look(), everyMs) : undefined;
  }

  private tell(txId: string, state: SettlementState | undefined): void {
    if (!state) this.end(txId, ({ reject }) => reject(new Error(`settlement ${txId} does not exist`)), { isDecided: true });
    else this.end(txId, ({ resolve }) => resolve(state), { isDecided: state.outcome.outcome !== 'pending' });
  }

  /** Of those who have waited enough; of all, if nothing is left to be waited for. */
  private end(txId: string, answer: (waiter: Waiter) => void, { isDecided = false } = {}): void {
    const waiters = this.waiters.get(txId) ?? new Set();
    const now = performance.now();
    for (const waiter of waiters) {
      if (!isDecided && waiter.until > now && !this.ending) continue;
      waiters.delete(waiter);
      answer(waiter);
    }
    if (waiters.size === 0) this.waiters.delete(txId);
  }
}

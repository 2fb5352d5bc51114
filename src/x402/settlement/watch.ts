import type { DataSource } from 'typeorm';
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
  private timer: NodeJS.Timeout | undefined;
  private isHurried = false;

  constructor(private readonly database: DataSource) {}

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
    this.isHurried = true;
  }

  private async look(): Promise<void> {
    const txIds = [...this.waiters.keys()];
    try {
      const states = new Map((await readSettlements(this.database.manager, txIds)).map((state) => [state.txId, state]));
      for (const txId of txIds) this.tell(txId, states.get(txId));
    } catch (error) {
      for (const txId of txIds) this.fail(txId, error);
    }
    this.timer = this.waiters.size > 0 ? setTimeout(() => void this.look(), everyMs) : undefined;
  }

  private tell(txId: string, state: SettlementState | undefined): void {
    if (!state) return this.fail(txId, new Error(`settlement ${txId} does not exist`));
    const waiters = this.waiters.get(txId) ?? new Set();
    const now = performance.now();
    for (const waiter of waiters) {
      if (state.outcome.outcome === 'pending' && waiter.until > now && !this.isHurried) continue;
      waiters.delete(waiter);
      waiter.resolve(state);
    }
    if (waiters.size === 0) this.waiters.delete(txId);
  }

  private fail(txId: string, error: unknown): void {
    for (const { reject } of this.waiters.get(txId) ?? []) reject(error);
    this.waiters.delete(txId);
  }
}

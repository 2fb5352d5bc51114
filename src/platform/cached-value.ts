import type { EntityManager } from 'typeorm';

/** A value from the database that is read again once it is a second old, or as old as the caller says. Concurrent callers share one query, in their order. */
export class CachedValue<T> {
  private readAt = -Infinity;
  private value: Promise<T> | undefined;

  constructor(
    private readonly read: (manager: EntityManager) => Promise<T>,
    private readonly maxAgeMs = 1_000,
  ) {}

  get(manager: EntityManager): Promise<T> {
    if (this.value && performance.now() - this.readAt < this.maxAgeMs) return this.value;
    this.readAt = performance.now();
    this.value = this.read(manager).catch((error: unknown) => {
      this.value = undefined;
      throw error;
    });
    return this.value;
  }
}

import type { Caller } from '../http/context';
import { setBounded } from '../platform/bounded';
import type { CredentialRepository } from './repository';

/** Revocation must take effect within 5 s; the rest of that time is for the query and the request itself. */
const cacheTtlMs = 4_000;
const maxEntries = 10_000;

interface Entry {
  usable: Promise<boolean>;
  until: number;
}

/** Whether an API key is usable; queries the database at most once per key and 4 s. */
export class KeyStatus {
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly credentials: CredentialRepository,
    private readonly now: () => number = Date.now,
  ) {}

  isUsable(caller: Caller): Promise<boolean> {
    const id = `${caller.keyId} ${caller.userId} ${caller.clientId}`;
    const cached = this.entries.get(id);
    if (cached && cached.until > this.now()) return cached.usable;
    const usable = this.credentials.isUsable(caller);
    this.remember(id, usable);
    return usable;
  }

  private remember(id: string, usable: Promise<boolean>): void {
    const entry = { usable, until: this.now() + cacheTtlMs };
    setBounded(this.entries, id, entry, maxEntries);
    // a failed query is not cached: the next request repeats it
    usable.catch(() => {
      if (this.entries.get(id) === entry) this.entries.delete(id);
    });
  }
}

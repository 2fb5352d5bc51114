import type { Caller } from '../http/context';
import { setBounded } from '../platform/bounded';
import type { CredentialRepository } from './repository';

/** Revocation has to work within 5 s; what is left is for the query and the request itself. */
const keptMs = 4_000;
const maxEntries = 10_000;

interface Entry {
  usable: Promise<boolean>;
  until: number;
}

/** Whether an API key still counts, asked of the database at most once per key and 4 s. */
export class KeyStatus {
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly credentials: CredentialRepository,
    private readonly now: () => number = Date.now,
  ) {}

  isUsable(caller: Caller): Promise<boolean> {
    const id = `${caller.keyId} ${caller.userId} ${caller.clientId}`;
    const known = this.entries.get(id);
    if (known && known.until > this.now()) return known.usable;
    const usable = this.credentials.isUsable(caller);
    this.remember(id, usable);
    return usable;
  }

  private remember(id: string, usable: Promise<boolean>): void {
    const entry = { usable, until: this.now() + keptMs };
    setBounded(this.entries, id, entry, maxEntries);
    // a failed look-up is no answer: the next request asks again
    usable.catch(() => {
      if (this.entries.get(id) === entry) this.entries.delete(id);
    });
  }
}

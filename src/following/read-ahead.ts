import type { ScanResult } from '../chains/chain-client';
import { atMost } from '../platform/within';
import type { FollowOptions } from './ports';
import { ScanRange } from './scan-range';

/** What was read longer ago is read again: the later it is stored, the more of it may have been reorganised away. */
const maxAgeMs = 10_000;
/** How long a range is waited for that nobody takes any more: it may hang as long as the endpoints. */
const unwantedMs = 3_000;

interface Read {
  found: ScanResult;
  /** When the node had answered, ms of performance.now. */
  at: number;
}

/**
 * Reads blocks range by range, and the next range while the one before it is stored: neither the node nor the database waits for the other. Two
 * ranges are not read at the same time, but beside one that hangs and is not wanted any more. A range depends on nothing that those before it
 * have stored: only on which addresses are of the gateway, which are looked up once its blocks are read, so that an address is known by then that
 * was given out before a block paid it.
 */
export class ReadAhead {
  private readonly range = new ScanRange();
  private begun: { from: number; reading: Promise<Read> } | null = null;
  /** One that is not wanted any more is still being read: none is begun beside it. */
  private isBusy = false;

  constructor(private readonly options: Pick<FollowOptions, 'chain' | 'client' | 'database' | 'deposits'>) {}

  /** The blocks from `from` on, `head` at most. @throws what the client's scan throws, also where it was begun before. */
  async take(from: number, head: number): Promise<ScanResult> {
    const { begun } = this;
    this.begun = null;
    if (begun?.from === from) {
      const { found, at } = await begun.reading;
      if (performance.now() - at <= maxAgeMs) return found;
    }
    // of blocks that were rolled back or not stored, or that another follower has stored
    if (begun) await this.drop(begun.reading);
    return (await this.read(from, head)).found;
  }

  /** Begins to read what is taken next, unless there is nothing up to `head`, or what is not wanted any more is still being read. */
  begin(from: number, head: number): void {
    if (from > head || this.isBusy) return;
    const reading = this.read(from, head);
    reading.catch(() => undefined);
    this.begun = { from, reading };
  }

  /** Ends after what is being read. */
  async end(): Promise<void> {
    await this.begun?.reading.catch(() => undefined);
  }

  private async drop(reading: Promise<Read>): Promise<void> {
    this.isBusy = true;
    const end = (): void => void (this.isBusy = false);
    await atMost(unwantedMs, reading.then(end, end));
  }

  private async read(from: number, head: number): Promise<Read> {
    const { chain, client, database, deposits } = this.options;
    const found = await this.range.run(from, head, (to) =>
      client.scan(from, to, (keys) => deposits.depositAddresses(database.manager, chain.family, keys)),
    );
    return { found, at: performance.now() };
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import type { NodeIndex } from '../messages/nodes';
import type { Bans } from './bans';
import type { Journal } from './journal';
import type { JournalMark, Mark } from './journal-mark';
import { journalBehind } from './metrics';
import { type OwnCopies, takeBack } from './take-back';

/** Between two tries to take back what is missing, and two looks for the operator's word. */
const retryMs = 5_000;
/** A backup may lack entries that are somewhat older than its newest one; in the unit of entry numbers, microseconds. */
const overlap = 3_600_000_000;

export interface JournalGuardOptions {
  self: NodeIndex;
  database: DataSource;
  journal: Journal;
  bans: Bans;
  mark: JournalMark;
  /** What a peer keeps of this node's journal, verified. */
  copiesOf: (peer: NodeIndex, after: number) => AsyncIterable<OwnCopies>;
  others: readonly NodeIndex[];
  logger: Logger;
}

/**
 * Keeps a node from signing with a database that has forgotten something. At its start the mark outside of the database is compared
 * with it: where the database is behind, or there is no mark, the node takes back from both peers what bears its own signature. While
 * that does not suffice it signs nothing until its operator accepts the loss.
 */
export class JournalGuard {
  private state: 'checking' | 'ready' | 'behind' = 'checking';
  private readonly closing = new AbortController();
  private waiting: Promise<void> = Promise.resolve();

  constructor(private readonly options: JournalGuardOptions) {}

  /** @throws GatewayError journal_behind */
  assertReady(): void {
    if (this.state !== 'ready')
      throw new GatewayError(
        'journal_behind',
        `node ${this.options.self} lacks a part of its journal and signs nothing until it has it back`,
      );
  }

  get isReady(): boolean {
    return this.state === 'ready';
  }

  /** Ready at once if nothing is missing; otherwise goes on in the background until `close`. */
  async start(): Promise<void> {
    const { bans, journal, mark } = this.options;
    const marked = await mark.read();
    await journal.closeInterrupted();
    // also where the process ended between putting entries back and this
    await journal.recount();
    if (marked === null ? await this.isNew() : await this.contains(marked)) {
      return this.open({ bans: bans.size, entry: marked?.entry ?? null });
    }
    this.state = 'behind';
    journalBehind.set(1);
    this.options.logger.error(
      { alert: 'journal_behind' },
      'the database is behind the journal mark: nothing is signed until it is complete',
    );
    this.waiting = this.recover(marked);
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.waiting;
  }

  private async open(mark: Mark, lost: Mark | null = null): Promise<void> {
    const { journal } = this.options;
    const newest = await journal.newest();
    journal.continueAfter(Math.max(newest?.number ?? 0, mark.entry?.number ?? 0, lost?.entry?.number ?? 0));
    await this.options.mark.reset(mark);
    this.state = 'ready';
    journalBehind.set(0);
  }

  private async contains({ bans, entry }: Mark): Promise<boolean> {
    return this.options.bans.size >= bans && (entry === null || (await this.options.journal.contains(entry)));
  }

  /** Nothing was ever generated or signed with this database. */
  private async isNew(): Promise<boolean> {
    const [row] = await this.options.database.query<{ is_new: boolean }[]>(
      `select not exists (select from key_shares) and not exists (select from journal) and not exists (select from bans) as is_new`,
    );
    return row?.is_new ?? false;
  }

  /** Ends with a complete journal, the operator's word, or `close`. */
  private async recover(marked: Mark | null): Promise<void> {
    const { logger, journal, bans } = this.options;
    const since = await this.databaseTime();
    while (!this.closing.signal.aborted) {
      try {
        if ((await this.isAccepted(since)) || (await this.isTakenBack(marked))) {
          await this.open({ bans: bans.size, entry: await journal.newest() }, marked);
          return;
        }
        logger.error(
          { alert: 'journal_behind' },
          'both peers have given back what they keep, and entries or bans are still missing',
        );
      } catch (error) {
        logger.warn({ reason: error instanceof Error ? error.message : String(error) }, 'the journal could not be completed yet');
      }
      await delay(retryMs, undefined, { signal: this.closing.signal }).catch(() => undefined);
    }
  }

  private async isTakenBack(marked: Mark | null): Promise<boolean> {
    const { journal, bans, others, copiesOf, logger } = this.options;
    const newest = await journal.newest();
    const after = Math.max(0, (newest?.number ?? 0) - overlap);
    const restored = await takeBack(
      { journal, bans },
      others.map((peer) => copiesOf(peer, after)),
    );
    logger.warn({ entries: restored }, 'took back journal entries from the peers');
    return marked === null || this.contains(marked);
  }

  private async isAccepted(since: Date): Promise<boolean> {
    const [acts] = await this.options.database.query<[{ operator: string }[], number]>(
      `update operator_acts set followed_at = clock_timestamp()
        where act = 'journal_accept' and followed_at is null and acted_at >= $1 returning operator`,
      [since],
    );
    const [act] = acts;
    if (act) this.options.logger.warn({ operator: act.operator }, 'the operator has accepted the journal as it is');
    return act !== undefined;
  }

  private async databaseTime(): Promise<Date> {
    const [row] = await this.options.database.query<{ now: Date }[]>('select clock_timestamp() as now');
    return row?.now ?? new Date();
  }
}

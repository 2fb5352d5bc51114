import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { GatewayError } from '../platform/errors';
import type { Logger } from '../platform/logging';
import type { NodeIndex } from '../messages/nodes';
import { type Acceptance, findAcceptance, follow } from './acceptance';
import type { Bans } from './bans';
import type { Journal } from './journal';
import type { JournalMark, Mark } from './journal-mark';
import { JournalRecovery } from './journal-recovery';
import { MarkWatch } from './mark-watch';
import { journalBehind } from './metrics';
import type { OwnCopies } from './own-copies';
import { TakeBack } from './take-back';

/** Between two tries to take back what is missing, and two looks for the operator's decision. */
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
  readCopies: (peer: NodeIndex, after: number) => AsyncIterable<OwnCopies>;
  others: readonly NodeIndex[];
  logger: Logger;
  /** For tests: milliseconds since the epoch. */
  now?: () => number;
}

/**
 * Keeps a node from signing with a database that has forgotten something. At its start, and with every admission, the mark outside of
 * the database is compared with it: where the database is behind, or there is no mark, the node takes back from both peers what bears
 * its own signature. While that does not suffice it signs nothing until its operator accepts the loss.
 */
export class JournalGuard {
  private state: 'checking' | 'ready' | 'behind' = 'checking';
  private readonly recovery: JournalRecovery;
  private copies: TakeBack;
  private readonly watch: MarkWatch;
  private readonly closing = new AbortController();
  private waiting: Promise<void> = Promise.resolve();

  constructor(private readonly options: JournalGuardOptions) {
    this.recovery = new JournalRecovery(options.database);
    this.copies = this.createTakeBack();
    this.watch = new MarkWatch(options);
  }

  /** @throws GatewayError journal_behind */
  assertReady(): void {
    if (this.state !== 'ready') throw journalIsBehind(this.options.self);
    this.watch.assertWritable();
  }

  get isReady(): boolean {
    return this.state === 'ready' && this.watch.isWritable;
  }

  /** Ready at once if nothing is missing; otherwise goes on in the background until `close`. */
  async start(): Promise<void> {
    const { bans, mark } = this.options;
    const marked = await mark.read();
    // before the comparison, which counts bans; without a mark only once the journal is complete
    if (marked !== null) {
      // in a database that was restored they are not of the process before
      if (marked.entry && (await this.recovery.contains(marked.entry))) await this.recovery.failAbandoned(marked.entry.number);
      await bans.banOverdue();
    }
    // also where the process ended between putting entries back and this
    await this.recovery.recount();
    if (marked === null ? await this.isNew() : marked.behindSince === undefined && (await this.contains(marked))) {
      return this.open();
    }
    this.fallBehind();
  }

  /** The database lacks what it had while this process ran: it was replaced by an older one. */
  noticeLoss(): void {
    if (this.state === 'ready') this.fallBehind();
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.waiting;
    this.watch.close();
  }

  private fallBehind(): void {
    this.state = 'behind';
    // what was read for another loss does not count for this one
    this.copies = this.createTakeBack();
    journalBehind.set(1);
    this.options.logger.error(
      { alert: 'journal_behind' },
      'the database is behind the journal mark: nothing is signed until it is complete',
    );
    this.waiting = this.recover();
  }

  private async open(acceptance?: Acceptance): Promise<void> {
    const { database, journal, bans, mark, logger } = this.options;
    // of an earlier process, or, in a database that was replaced, of sessions whose end it has lost
    await journal.closeInterrupted();
    await bans.banOverdue();
    journal.continueAfter(Math.max(await this.recovery.newestNumber(), mark.known.entry?.number ?? 0));
    const found: Mark = { bans: bans.size, entry: await this.recovery.newestBegun() };
    if (acceptance) {
      await mark.reset(found);
      // only now: a process that ends before this still has the operator's decision at its next start
      await follow(database, acceptance);
      logger.warn({ operator: acceptance.operator }, 'the operator has accepted the journal as it is');
    } else await mark.complete(found);
    this.state = 'ready';
    journalBehind.set(0);
  }

  private async contains({ bans, entry }: Mark): Promise<boolean> {
    return this.options.bans.size >= bans && (entry === null || (await this.recovery.contains(entry)));
  }

  /** Nothing was ever generated or signed with this database. */
  private async isNew(): Promise<boolean> {
    const [row] = await this.options.database.query<{ is_new: boolean }[]>(
      `select not exists (select from key_shares) and not exists (select from journal) and not exists (select from bans) as is_new`,
    );
    return row?.is_new ?? false;
  }

  /** Ends with a complete journal, the operator's decision, or `close`. */
  private async recover(): Promise<void> {
    const { logger } = this.options;
    while (!this.closing.signal.aborted) {
      try {
        if (await this.tryToOpen()) return;
      } catch (error) {
        logger.warn({ reason: error instanceof Error ? error.message : String(error) }, 'the journal could not be completed yet');
      }
      await delay(retryMs, undefined, { signal: this.closing.signal }).catch(() => undefined);
    }
  }

  /** The operator's decision is followed once both peers were read as far as they answer: what they give is not forgotten. */
  private async tryToOpen(): Promise<boolean> {
    const { database, bans, mark, logger } = this.options;
    const since = await mark.beginTakingBack(await this.databaseTime());
    const acceptance = await findAcceptance(database, since);
    await bans.storeAgain();
    const after = Math.max(0, (await this.recovery.newestOwn()) - overlap);
    const { restored, failures } = await this.copies.pass(after, this.closing.signal);
    if (this.closing.signal.aborted) return false;
    if (restored > 0) logger.warn({ entries: restored }, 'took back journal entries from the peers');
    for (const failure of failures) logger.warn(failure, 'the copies of a peer were not read to their end');
    const isComplete = failures.length === 0 && (await this.contains(mark.known));
    if (isComplete || (acceptance && !failures.some(({ hasMore }) => hasMore))) {
      await this.open(isComplete ? undefined : acceptance);
      return true;
    }
    if (failures.length === 0)
      logger.error(
        { alert: 'journal_behind' },
        'both peers have given back what they keep, and entries or bans are still missing',
      );
    return false;
  }

  private createTakeBack(): TakeBack {
    return new TakeBack({ ...this.options, journal: this.recovery });
  }

  private async databaseTime(): Promise<Date> {
    const [row] = await this.options.database.query<{ now: Date }[]>('select clock_timestamp() as now');
    return row?.now ?? new Date();
  }
}

export const journalIsBehind = (self: NodeIndex): GatewayError =>
  new GatewayError('journal_behind', `node ${self} lacks a part of its journal and signs nothing until it has it back`);

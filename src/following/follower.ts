import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import type { ScanResult } from '../chains/chain-client';
import { storeForeignTransactions, takeBackForeignTransactions } from '../chains/foreign-transactions';
import { storeOrigins } from '../chains/origins';
import { storeOutputs, takeBackOutputs } from '../chains/outputs';
import { inTransaction } from '../platform/database';
import { GatewayError } from '../platform/errors';
import { atMost } from '../platform/within';
import { findInclusions, type FoundInclusion } from './block-inclusions';
import { Agreement } from './agreement';
import { credit } from './credit';
import { DoubtWatch } from './doubt-watch';
import { EndedWatch } from './ended-watch';
import { FailureWatch } from './failure-watch';
import { findFork } from './fork';
import { FundingWatch } from './funding-watch';
import { storeForeignSpends, takeBackForeignSpends } from './foreign-spends';
import { Head } from './head';
import { OutageTracker } from './outage-tracker';
import { reopenFinal } from './reopen-final';
import type { FollowOptions } from './ports';
import { PoolWatch } from './pool-watch';
import { findAwaited, takenBack } from './observations';
import { ReadAhead } from './read-ahead';
import { SpendWatch } from './spend-watch';
import { TraceWatch } from './trace-watch';
import * as inclusions from './inclusions';
import * as store from './store';

/** Blocks remembered at least, for reorganisations below a shallow finality depth: they are an alarm, but one that is got over. */
const minKept = 256;
/** How long a step waits for the answers of several endpoints: what is asked goes on beside the next one. */
const answersWaitMs = 3_000;
const defaultSliceMs = 10 * 60_000;

/**
 * Follows one chain: finds deposits and inclusions block by block from a cursor in Postgres, so that what came while
 * everything was down is found later; notices reorganisations down to the finality depth; feeds the workflows that wait.
 * Works for about `sliceMs`, then returns the next block to scan. A chain, database or Temporal that does not answer ends
 * nothing: it is logged once and tried again.
 * @throws Error only for what waiting cannot solve: a database that has followed another chain under this name.
 */
export async function followChain(options: FollowOptions): Promise<{ nextBlock: number }> {
  return new Follower(options).run();
}

class Follower {
  private readonly outage: OutageTracker;
  private readonly ends: EndedWatch;
  private readonly spends: SpendWatch;
  private readonly funding: FundingWatch;
  private readonly failures: FailureWatch;
  private readonly doubts: DoubtWatch;
  private readonly traces: TraceWatch;
  private readonly agreement: Agreement;
  private readonly head: Head;
  private readonly blocks: ReadAhead;
  private readonly pollMs: number;
  private nextBlock = 0;
  private signalling: Promise<void> = Promise.resolve();

  constructor(private readonly options: FollowOptions) {
    const { chain, logger } = options;
    this.outage = new OutageTracker(logger.child({ chain: chain.name }));
    this.ends = new EndedWatch(options);
    this.spends = new SpendWatch(options);
    this.funding = new FundingWatch(options);
    this.failures = new FailureWatch(options);
    this.doubts = new DoubtWatch(options);
    this.traces = new TraceWatch(options);
    this.agreement = new Agreement(options);
    this.head = new Head(options);
    this.blocks = new ReadAhead(options);
    this.pollMs = options.pollMs ?? Math.max(250, chain.blockTimeMs / 2);
  }

  /** The pool is read beside the blocks: it may change many times between two of them. */
  async run(): Promise<{ nextBlock: number }> {
    const { client, signal, sliceMs = defaultSliceMs } = this.options;
    const end = Date.now() + sliceMs;
    const stop = new AbortController();
    const watching = client.pool && new PoolWatch(client.pool, this.options).run(AbortSignal.any([signal, stop.signal]), end);
    try {
      return await this.followBlocks(end);
    } finally {
      stop.abort();
      this.spends.end();
      this.doubts.end();
      // what hangs only reads: nothing of it is stored
      if (!signal.aborted) await Promise.all([this.agreement.end(), atMost(answersWaitMs, this.blocks.end())]);
      await watching;
      if (!signal.aborted) await atMost(answersWaitMs, this.signalling);
      await this.options.notifier.giveUp();
    }
  }

  private async followBlocks(end: number): Promise<{ nextBlock: number }> {
    const { signal, heartbeat } = this.options;
    while (!signal.aborted && Date.now() < end) {
      const behind = await this.outage.run(() => this.step());
      heartbeat({ nextBlock: this.nextBlock, head: this.head.last, endpoint: this.options.client.endpoint });
      const waitMs = behind === true ? 0 : Math.max(this.pollMs, this.outage.backoffMs);
      // ends early when the signal aborts
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
    }
    return { nextBlock: this.nextBlock };
  }

  /** One poll. Returns whether more blocks wait already. */
  private async step(): Promise<boolean> {
    const head = await this.head.read();
    // another follower may have moved it
    const cursor = (await store.findCursor(this.manager, this.chain)) ?? { nextBlock: 0, agreedTo: null, untraced: null };
    this.traces.report(cursor);
    await this.agreement.begin(cursor);
    this.nextBlock = cursor.nextBlock;
    const last = await store.newestBlockUpTo(this.manager, this.chain.name, this.nextBlock - 1);
    if (this.nextBlock > head) {
      await this.checkTip(head, last);
    } else {
      await this.scanNext(head, last);
    }
    await this.agree(head);
    const scannedTo = this.nextBlock - 1;
    const { observations: awaited, unagreed } = await findAwaited(this.manager, this.chain, scannedTo, this.agreement.limit);
    // beside the scan: neither answers about what has failed nor a backlog of signals delay a deposit
    const asked = this.failures.ask(awaited, unagreed);
    const tell = () =>
      (this.signalling = this.options.notifier.sendAll(
        new Map([...this.funding.lost, ...this.failures.correct(awaited, unagreed)]),
      ));
    void tell();
    await this.ends.report(this.nextBlock);
    await this.spends.report(this.nextBlock);
    await this.doubts.report();
    // blocks that cannot be taken yet are waited for like new ones
    if (this.nextBlock <= head && this.nextBlock !== cursor.nextBlock) return true;
    await this.funding.ask(this.nextBlock);
    await atMost(answersWaitMs, asked);
    void tell();
    return false;
  }

  /** Far behind, it is not waited for: an endpoint that hangs would make following slow. */
  private async agree(head: number): Promise<void> {
    const agreed = this.agreement.advance(this.nextBlock);
    if (this.nextBlock > head) await atMost(answersWaitMs, agreed);
    else
      agreed.catch((err: unknown) =>
        this.options.logger.warn({ err, chain: this.chain.name }, 'endpoints could not be compared'),
      );
  }

  /** Nothing new: is the newest block that both have still the same? A head below ours may be just a node that lags. */
  private async checkTip(head: number, last: store.StoredBlock | null): Promise<void> {
    const known = head < this.nextBlock - 1 ? await store.newestBlockUpTo(this.manager, this.chain.name, head) : last;
    if (!known) {
      if (head < this.nextBlock - 1)
        throw new GatewayError('chain_unavailable', `${this.chain.name}: the node's head ${head} is below every block on record`);
      return;
    }
    const now = await this.options.client.block(known.number);
    if (now && now.hash !== known.hash) await this.rollBack();
  }

  private async scanNext(head: number, last: store.StoredBlock | null): Promise<void> {
    const scan = await this.traces.watch(() => this.blocks.take(this.nextBlock, head));
    if (scan.scannedTo < this.nextBlock) return;
    const [first] = scan.blocks;
    if (first && last && first.parentHash !== last.hash) {
      await this.rollBack();
      return;
    }
    this.blocks.begin(scan.scannedTo + 1, head);
    const contradicted = await this.store(scan, await findInclusions(this.manager, this.options, scan.blocks));
    this.takeBack(contradicted);
  }

  /** Everything that a range brought, in one database transaction that starts with the compare-and-set on the cursor. */
  private async store({ blocks, scannedTo, untraced }: ScanResult, found: FoundInclusion[]) {
    const { chain, options } = this;
    const from = this.nextBlock;
    const contradicted = await inTransaction(options.database, async (manager) => {
      const cursor = await store.moveCursor(manager, chain.name, from, scannedTo + 1);
      if (!cursor) return null;
      if (untraced) await this.traces.note(manager, untraced);
      await store.storeBlocks(manager, chain.name, blocks, scannedTo - Math.max(chain.finalityDepth, minKept));
      await storeOrigins(manager, chain.name, blocks, scannedTo - chain.finalityDepth + 1);
      await storeOutputs(manager, chain.name, blocks);
      await storeForeignTransactions(manager, chain.name, blocks);
      await options.deposits.recordDeposits(
        manager,
        chain,
        blocks.flatMap(({ deposits }) => deposits),
      );
      for (const { attempt, effect } of found) {
        if (!(await inclusions.storeInclusion(manager, attempt, effect)))
          throw new Error(`block ${effect.blockNumber} of ${chain.name} is stored with two hashes`);
      }
      if (blocks.some(({ outputs }) => outputs)) await storeForeignSpends(manager, chain, from, scannedTo);
      // also below the range, since no later range or roll-back would come to clear what is left there
      const taken = await inclusions.clearContradicted(manager, chain.name, from - chain.finalityDepth, scannedTo);
      await credit(manager, options, scannedTo, cursor.agreedTo ?? Infinity);
      return taken;
    });
    if (contradicted) this.nextBlock = scannedTo + 1;
    return contradicted ?? [];
  }

  /** Goes back to the newest stored block that the chain still has; what the blocks above it held is taken back. */
  private async rollBack(): Promise<void> {
    const { chain, options } = this;
    const fork = await findFork(options, this.nextBlock);
    if (fork === null)
      throw new GatewayError(
        'chain_unavailable',
        `${chain.name}: none of the stored blocks is on the chain any more: it was reset, or reorganised below the finality depth`,
      );
    const from = fork + 1;
    if (this.nextBlock - from > chain.finalityDepth) {
      options.logger.error(
        { chain: chain.name, from_block: from, to_block: this.nextBlock - 1 },
        'the chain reorganised below its finality depth: what counted as final may be undone',
      );
    }
    const taken = await inTransaction(options.database, async (manager) => {
      if (!(await store.moveCursor(manager, chain.name, this.nextBlock, from))) return null;
      await store.dropBlocks(manager, chain.name, from);
      await takeBackForeignSpends(manager, chain.name, from);
      await takeBackOutputs(manager, chain.name, from);
      await takeBackForeignTransactions(manager, chain.name, from);
      await options.deposits.orphanDeposits(manager, chain, from);
      const lost = await inclusions.clearInclusions(manager, chain.name, from);
      const ids = lost.map(({ txId }) => txId);
      return { lost, reopened: await reopenFinal(manager, chain.name, ids) };
    });
    if (!taken) return;
    const { lost, reopened } = taken;
    for (const { txId, reason } of reopened)
      options.logger.error({ alert: 'refund_not_final', chain: chain.name, tx_id: txId }, reason);
    options.logger.warn(
      { chain: chain.name, from_block: from, to_block: this.nextBlock - 1, transfers: lost.length },
      'the chain reorganised: rolled back',
    );
    this.nextBlock = from;
    this.head.forget();
    this.ends.isDue = true;
    this.takeBack(lost);
  }

  /** What `tell` says from now on is told after it. */
  private takeBack(lost: inclusions.LostInclusion[]): void {
    if (lost.length === 0) return;
    this.ends.isDue = true;
    this.signalling = this.options.notifier.sendTakenBack(lost.map(({ txId, id }) => [txId, takenBack(id)] as const));
  }

  private get chain() {
    return this.options.chain;
  }

  private get manager(): EntityManager {
    return this.options.database.manager;
  }
}

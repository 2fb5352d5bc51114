import { inTransaction } from '../platform/database';
import { credit } from './credit';
import type { FollowOptions } from './ports';
import * as store from './store';

/** Endpoints that have to show a block, the one that it was scanned from among them. */
const needed = 2;
/** How long a block may lack a second endpoint before that is an alarm; longer on slow chains. */
const patienceMs = 60_000;
const patienceBlocks = 10;

type Options = Pick<FollowOptions, 'chain' | 'client' | 'database' | 'deposits' | 'chainAlarms'>;

/**
 * Where several endpoints are configured, two of them have to show a block before anything in it counts as confirmed: neither credits nor
 * ends can be taken back once their money has been spent. The newest block that is as deep as the confirmations is compared, and with it
 * all that it descends from. Endpoints that disagree, or that do not answer, are an alarm, and waited for.
 */
export class Agreement {
  private agreedTo: number | null = null;
  private running: Promise<void> | null = null;
  private unansweredSince: number | null = null;

  constructor(private readonly options: Options) {}

  /** The newest block in which anything may be confirmed; Infinity with one endpoint. */
  get limit(): number {
    return this.options.client.compareBlock ? (this.agreedTo ?? -1) : Infinity;
  }

  /** Takes what is stored, and stores whether this chain has a limit at all. */
  async begin({ agreedTo }: store.Cursor): Promise<void> {
    const { chain, client, database } = this.options;
    this.agreedTo = agreedTo;
    if ((agreedTo !== null) === (client.compareBlock !== undefined)) return;
    this.agreedTo = client.compareBlock ? -1 : null;
    await store.setAgreedTo(database.manager, chain.name, this.agreedTo);
    if (!client.compareBlock) this.options.chainAlarms.clear(chain.name, 'blocks_not_agreed');
  }

  /** @param nextBlock the first that is not scanned. One comparison at a time: a call meanwhile waits for the same one. */
  advance(nextBlock: number): Promise<void> {
    this.running ??= this.compare(nextBlock).finally(() => (this.running = null));
    return this.running;
  }

  /** Ends after the comparison that is on its way. */
  async end(): Promise<void> {
    await this.running?.catch(() => undefined);
  }

  private async compare(nextBlock: number): Promise<void> {
    const { chain, client, database, deposits } = this.options;
    if (!client.compareBlock) return;
    const block = await store.newestBlockUpTo(database.manager, chain.name, nextBlock - chain.confirmations);
    if (!block || block.number <= this.limit) return;
    const { same, different } = await client.compareBlock(block.number, block.hash);
    this.report(block.number, same, different);
    if (same < needed) return;
    const isStored = await inTransaction(database, async (manager) => {
      const storedNext = await store.agree(manager, chain.name, block);
      if (storedNext === null) return false;
      // a roll-back meanwhile has made everything less deep
      await credit(manager, { chain, deposits }, Math.min(nextBlock, storedNext) - 1, block.number);
      return true;
    });
    if (isStored) this.agreedTo = block.number;
  }

  private report(number: number, same: number, different: number): void {
    const { chain, chainAlarms } = this.options;
    const isAgreed = same >= needed;
    if (isAgreed || different > 0) this.unansweredSince = null;
    else this.unansweredSince ??= Date.now();
    if (different > 0) {
      const what = isAgreed ? 'two others agree' : 'nothing from it on is credited or settled';
      chainAlarms.raise(chain.name, 'blocks_not_agreed', `${different} endpoints show another block ${number}: ${what}`);
    } else if (isAgreed) {
      chainAlarms.clear(chain.name, 'blocks_not_agreed');
    } else if (Date.now() - (this.unansweredSince ?? Date.now()) >= Math.max(patienceMs, patienceBlocks * chain.blockTimeMs)) {
      const reason = `no second endpoint shows block ${number}: nothing from it on is credited or settled`;
      chainAlarms.raise(chain.name, 'blocks_not_agreed', reason);
    }
  }
}

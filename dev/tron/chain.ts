import { type Block, makeBlock } from './blocks';
import { checkPlace, expired } from './checks';
import { checkSignature, type Decoded, parseTransaction, readDecoded } from './decoded';
import { execute, type Receipt } from './execute';
import { type Change, type ChainData, History } from './history';
import { toIncluded } from './info';
import type { Transaction } from './messages';
import { chainLimits, type Parameters } from './parameters';
import { Refusal } from './refusal';
import { type Moment, slotMs } from './resources';
import { Layer, type Readable } from './state';

export interface ChainOptions {
  parameters: Parameters;
  /** Milliseconds between blocks. */
  blockMs: number;
  /** A block is solidified when so many follow it. */
  solidLag: number;
  /** Transactions that wait for a block. */
  maxPending: number;
}

interface Pending {
  decoded: Decoded;
  /** First block that may have it. */
  notBefore: number;
}

const maxWaiting = 5_000;
const maxMined = 10_000;

/** A chain of one process. What changes it runs one after another. */
export class Chain {
  readonly history: History;
  private pending: Pending[] = [];
  /** What the pending transactions change, upon the head. */
  private pendingLayer: Layer;
  private readonly executed = new Map<string, { decoded: Decoded; receipt: Receipt }>();
  private changes: ((layer: Layer) => void)[] = [];
  private forks = 0;
  private waiting = 0;
  private tail: Promise<unknown> = Promise.resolve();

  constructor(
    readonly options: ChainOptions,
    data: ChainData,
    keep: (change: Change) => void = () => undefined,
  ) {
    this.history = new History(data, options.solidLag, keep);
    this.pendingLayer = new Layer(this.history.top);
  }

  get head(): Block {
    return this.history.head;
  }

  get pendingCount(): number {
    return this.pending.length;
  }

  findPending(id: string): { decoded: Decoded; receipt: Receipt } | undefined {
    return this.executed.get(id);
  }

  /** With the pending transactions, as a full node shows it, or what is solidified. */
  state(view: 'now' | 'solid'): Readable {
    return view === 'now' ? this.pendingLayer : this.history.solid;
  }

  /** It takes no further transaction until the next block. */
  get isBusy(): boolean {
    return this.pending.length >= this.options.maxPending;
  }

  /** What the next transaction meets. */
  moment(): Moment & { number: number } {
    const { timeMs, number } = this.head;
    return { headTimeMs: timeMs, slot: Math.floor(timeMs / slotMs), parameters: this.options.parameters, number: number + 1 };
  }

  /**
   * Takes a transaction, as Wallet.broadcastTransaction does.
   * @param fault drop: accepted and forgotten; a number: so many blocks later
   * @returns its id
   * @throws Refusal
   */
  broadcast(transaction: Transaction, fault: 'drop' | number = 0): Promise<string> {
    return this.serially(async () => {
      const decoded = readDecoded(transaction);
      if (this.isBusy) throw new Refusal('SERVER_BUSY', 'too many pending');
      if (Number(decoded.raw.expiration) < this.head.timeMs + this.options.blockMs) throw expired(decoded.raw, this.head);
      checkSignature(decoded);
      checkPlace(decoded, this.history);
      if (this.executed.has(decoded.id)) throw new Refusal('DUP_TRANSACTION_ERROR', `dup trans : ${decoded.id}`);
      const layer = new Layer(this.pendingLayer);
      const receipt = await execute(layer, decoded, this.moment());
      if (fault === 'drop') return decoded.id;
      layer.mergeInto(this.pendingLayer);
      this.pending.push({ decoded, notBefore: this.head.number + 1 + fault });
      this.executed.set(decoded.id, { decoded, receipt });
      return decoded.id;
    });
  }

  /**
   * Makes blocks now, ten thousand at most.
   * @param skipMs how much later than usual the first one is
   */
  mine(count = 1, skipMs = 0): Promise<Block> {
    return this.serially(async () => {
      for (let made = 0; made < Math.min(count, maxMined); made += 1) await this.makeBlock(made === 0 ? skipMs : 0);
      await this.rebuildPending();
      return this.head;
    });
  }

  /** Changes accounts or contracts in a block of their own, as no transaction could. */
  change(change: (layer: Layer) => void): Promise<Block> {
    this.changes.push(change);
    return this.mine();
  }

  /**
   * Other blocks take the place of the last ones.
   * @param keepTransactions what the blocks had is pending again; else it is forgotten
   * @throws RangeError for blocks that are solidified
   */
  fork(depth: number, keepTransactions: boolean): Promise<Block> {
    return this.serially(async () => {
      const transactions = this.history.rollback(depth).flatMap((block) => block.transactions);
      this.forks += 1;
      if (keepTransactions) {
        const again = transactions.map(({ bytes }) => readDecoded(parseTransaction(Buffer.from(bytes, 'hex'))));
        this.pending.unshift(...again.map((decoded) => ({ decoded, notBefore: 0 })));
      }
      for (let made = 0; made < depth; made += 1) await this.makeBlock(0);
      await this.rebuildPending();
      return this.head;
    });
  }

  /** Forgets a transaction that waits for a block. False if there is none. */
  forget(id: string): Promise<boolean> {
    return this.serially(async () => {
      const known = this.pending.length;
      this.pending = this.pending.filter(({ decoded }) => decoded.id !== id);
      const isForgotten = this.pending.length < known;
      await this.rebuildPending();
      return isForgotten;
    });
  }

  /**
   * Runs something while nothing else changes the chain.
   * @throws Refusal if too much waits
   */
  serially<T>(task: () => Promise<T>): Promise<T> {
    if (this.waiting >= maxWaiting) return Promise.reject(new Refusal('SERVER_BUSY', 'too many requests'));
    this.waiting += 1;
    const result = this.tail.then(task).finally(() => (this.waiting -= 1));
    this.tail = result.catch(() => undefined);
    return result;
  }

  private async makeBlock(skipMs: number): Promise<void> {
    const { head } = this;
    const { blockMs } = this.options;
    const aligned = Math.floor(Date.now() / blockMs) * blockMs;
    const place = { number: head.number + 1, timeMs: Math.max(head.timeMs + blockMs, aligned) + skipMs };
    const layer = new Layer(this.history.top);
    for (const change of this.changes.splice(0)) change(layer);
    const included: Block['transactions'] = [];
    for (const { decoded } of this.takeDue(place.number)) {
      const receipt = await this.tryExecute(layer, decoded);
      if (receipt) included.push(toIncluded(decoded, receipt, place));
    }
    // another witness after a fork, so that the block is another one
    this.history.append(makeBlock({ ...place, parent: head.id, witness: place.number + this.forks }, included), layer);
  }

  /** The pending transactions that go into this block; the others stay. */
  private takeDue(number: number): Pending[] {
    const taken: Pending[] = [];
    let bytes = 0;
    this.pending = this.pending.filter((entry) => {
      if (entry.notBefore > number || bytes + entry.decoded.bytes > chainLimits.blockBytes) return true;
      bytes += entry.decoded.bytes;
      taken.push(entry);
      return false;
    });
    return taken;
  }

  /** The pending transactions are executed again on the new head; those that it refuses are forgotten. */
  private async rebuildPending(): Promise<void> {
    const entries = this.pending;
    this.pending = [];
    this.executed.clear();
    this.pendingLayer = new Layer(this.history.top);
    for (const entry of entries) {
      const receipt = await this.tryExecute(this.pendingLayer, entry.decoded);
      if (!receipt) continue;
      this.pending.push(entry);
      this.executed.set(entry.decoded.id, { decoded: entry.decoded, receipt });
    }
  }

  private async tryExecute(target: Layer, decoded: Decoded): Promise<Receipt | undefined> {
    const layer = new Layer(target);
    try {
      checkPlace(decoded, this.history);
      const receipt = await execute(layer, decoded, this.moment());
      layer.mergeInto(target);
      return receipt;
    } catch (error) {
      if (error instanceof Refusal) return undefined;
      throw error;
    }
  }
}

import { type Block, makeBlock } from './blocks';
import { checkPlace, expired } from './checks';
import { checkSignature, type Decoded, parseTransaction, readDecoded } from './decoded';
import { execute, type Receipt } from './execute';
import { toIncluded } from './info';
import type { Transaction } from './messages';
import { chainLimits, type Parameters, recentBlocks } from './parameters';
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

/** All that a restart needs. */
export interface ChainData {
  /** Solidified. */
  base: Layer;
  /** Consecutive; the last one is the head. */
  blocks: Block[];
  /** Of the blocks that are not solidified. */
  layers: Layer[];
}

interface Pending {
  decoded: Decoded;
  /** First block that may have it. */
  notBefore: number;
}

/** What is written down as it happens. */
export type Change = { block: Block; layer: Layer } | { rollback: number };

/** Blocks older than those that a transaction can refer to, and beyond this many transactions, are forgotten. */
const keptTransactions = 10_000;
const maxWaiting = 5_000;
const maxMined = 10_000;

/** A chain of one process. What changes it runs one after another. */
export class Chain {
  private pending: Pending[] = [];
  private pendingLayer: Layer;
  /** Receipts of pending transactions, as far as they were executed. */
  private readonly pendingIds = new Map<string, { decoded: Decoded; receipt: Receipt }>();
  private readonly places = new Map<string, number>();
  private changes: ((layer: Layer) => void)[] = [];
  private forks = 0;
  private waiting = 0;
  private tail: Promise<unknown> = Promise.resolve();

  constructor(
    readonly options: ChainOptions,
    private readonly data: ChainData,
    private readonly keep: (change: Change) => void = () => undefined,
  ) {
    this.pendingLayer = new Layer(this.top);
    for (const block of data.blocks) this.index(block);
  }

  get head(): Block {
    return this.data.blocks.at(-1) as Block;
  }

  get first(): Block {
    return this.data.blocks[0] as Block;
  }

  get solidNumber(): number {
    return this.head.number - this.data.layers.length;
  }

  get pendingCount(): number {
    return this.pending.length;
  }

  getBlock(number: number): Block | undefined {
    return this.data.blocks[number - this.first.number];
  }

  /** The block that has a transaction. */
  findBlockOf(id: string): Block | undefined {
    const number = this.places.get(id);
    return number === undefined ? undefined : this.getBlock(number);
  }

  findPending(id: string): { decoded: Decoded; receipt: Receipt } | undefined {
    return this.pendingIds.get(id);
  }

  /** With the pending transactions, as a full node shows it, or what is solidified. */
  state(view: 'now' | 'solid'): Readable {
    return view === 'now' ? this.pendingLayer : this.data.base;
  }

  /** What the next transaction meets. */
  moment(): Moment & { number: number } {
    const { timeMs, number } = this.head;
    return { headTimeMs: timeMs, slot: Math.floor(timeMs / slotMs), parameters: this.options.parameters, number: number + 1 };
  }

  /**
   * Takes a transaction, as Wallet.broadcastTransaction does.
   * @param fault drop: accepted and forgotten; a number: so many blocks later
   * @throws Refusal
   */
  broadcast(transaction: Transaction, fault: 'drop' | number = 0): Promise<string> {
    return this.serially(async () => {
      const decoded = readDecoded(transaction);
      if (this.pending.length >= this.options.maxPending) throw new Refusal('SERVER_BUSY', 'too many pending');
      if (Number(decoded.raw.expiration) < this.head.timeMs + this.options.blockMs) throw expired(decoded.raw, this.head);
      checkSignature(decoded);
      checkPlace(decoded, this);
      if (this.pendingIds.has(decoded.id)) throw new Refusal('DUP_TRANSACTION_ERROR', `dup trans : ${decoded.id}`);
      const layer = new Layer(this.pendingLayer);
      const receipt = await execute(layer, decoded, this.moment());
      if (fault === 'drop') return decoded.id;
      layer.mergeInto(this.pendingLayer);
      this.pending.push({ decoded, notBefore: this.head.number + 1 + fault });
      this.pendingIds.set(decoded.id, { decoded, receipt });
      return decoded.id;
    });
  }

  /**
   * Makes blocks now.
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
   * @param depth at most the blocks that are not solidified
   * @param keepTransactions what the blocks had is pending again; else it is forgotten
   * @throws RangeError
   */
  fork(depth: number, keepTransactions: boolean): Promise<Block> {
    return this.serially(async () => {
      if (depth < 1 || depth > this.data.layers.length)
        throw new RangeError(`only ${this.data.layers.length} blocks can be replaced`);
      this.keep({ rollback: depth });
      const removed = this.data.blocks.splice(-depth);
      this.data.layers.splice(-depth);
      this.forks += 1;
      const transactions = removed.flatMap((block) => block.transactions);
      for (const { id } of transactions) this.places.delete(id);
      if (keepTransactions) {
        const decoded = transactions.map(({ bytes }) => readDecoded(parseTransaction(Buffer.from(bytes, 'hex'))));
        this.pending.unshift(...decoded.map((entry) => ({ decoded: entry, notBefore: 0 })));
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
      await this.rebuildPending();
      return this.pending.length < known;
    });
  }

  /** Runs something while nothing else changes the chain. */
  serially<T>(task: () => Promise<T>): Promise<T> {
    if (this.waiting >= maxWaiting) return Promise.reject(new Refusal('SERVER_BUSY', 'too many requests'));
    this.waiting += 1;
    const result = this.tail.then(task).finally(() => (this.waiting -= 1));
    this.tail = result.catch(() => undefined);
    return result;
  }

  private get top(): Layer {
    return this.data.layers.at(-1) ?? this.data.base;
  }

  private async makeBlock(skipMs: number): Promise<void> {
    const { head } = this;
    const { blockMs, solidLag } = this.options;
    const aligned = Math.floor(Date.now() / blockMs) * blockMs;
    const timeMs = Math.max(head.timeMs + blockMs, aligned) + skipMs;
    const number = head.number + 1;
    const layer = new Layer(this.top);
    for (const change of this.changes.splice(0)) change(layer);
    const due = this.pending.filter(({ notBefore }) => notBefore <= number);
    const included: Block['transactions'] = [];
    const taken = new Set<Pending>();
    let bytes = 0;
    for (const entry of due) {
      bytes += entry.decoded.bytes;
      if (bytes > chainLimits.blockBytes) break;
      taken.add(entry);
      const receipt = await this.tryExecute(layer, entry.decoded);
      if (receipt) included.push(toIncluded(entry.decoded, receipt, { number, timeMs }));
    }
    this.pending = this.pending.filter((entry) => !taken.has(entry));
    const block = makeBlock({ number, timeMs, parent: head.id, witness: number + this.forks }, included);
    this.append(block, layer, solidLag);
  }

  private append(block: Block, layer: Layer, solidLag: number): void {
    const { blocks, layers, base } = this.data;
    this.keep({ block, layer: new Layer(undefined, new Map(layer.entries)) });
    blocks.push(block);
    layers.push(layer);
    this.index(block);
    while (layers.length > solidLag) {
      layers.shift()?.mergeInto(base);
      const [lowest] = layers;
      if (lowest) lowest.parent = base;
    }
    while (blocks.length > recentBlocks || (this.places.size > keptTransactions && blocks.length > layers.length + 1)) {
      for (const { id } of blocks.shift()?.transactions ?? []) this.places.delete(id);
    }
  }

  private index({ number, transactions }: Block): void {
    for (const { id } of transactions) this.places.set(id, number);
  }

  /** The pending transactions are executed again on the new head; those that it refuses are forgotten. */
  private async rebuildPending(): Promise<void> {
    const entries = this.pending;
    this.pending = [];
    this.pendingIds.clear();
    this.pendingLayer = new Layer(this.top);
    for (const entry of entries) {
      const receipt = await this.tryExecute(this.pendingLayer, entry.decoded);
      if (!receipt) continue;
      this.pending.push(entry);
      this.pendingIds.set(entry.decoded.id, { decoded: entry.decoded, receipt });
    }
  }

  private async tryExecute(target: Layer, decoded: Decoded): Promise<Receipt | undefined> {
    const layer = new Layer(target);
    try {
      checkPlace(decoded, this);
      const receipt = await execute(layer, decoded, this.moment());
      layer.mergeInto(target);
      return receipt;
    } catch (error) {
      if (error instanceof Refusal) return undefined;
      throw error;
    }
  }
}

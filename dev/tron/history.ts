import type { Block } from './blocks';
import { recentBlocks } from './parameters';
import type { Layer } from './state';
import { type Readable } from './state';

/** All that a restart needs. */
export interface ChainData {
  /** Solidified. */
  base: Layer;
  /** Consecutive; the last one is the head. */
  blocks: Block[];
  /** Of the blocks that are not solidified. */
  layers: Layer[];
}

/** What is written down as it happens, before it happens. */
export type Change = { block: Block; layer: Layer } | { rollback: number };

/** Blocks older than those that a transaction can refer to, and beyond this many transactions, are forgotten. */
const keptTransactions = 10_000;

/** The blocks, what each of them has changed, and where each transaction is. */
export class History {
  private readonly places = new Map<string, number>();

  constructor(
    private readonly data: ChainData,
    private readonly solidLag: number,
    private readonly keep: (change: Change) => void,
  ) {
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

  /** What the head has left. */
  get top(): Layer {
    return this.data.layers.at(-1) ?? this.data.base;
  }

  get solid(): Readable {
    return this.data.base;
  }

  getBlock(number: number): Block | undefined {
    return this.data.blocks[number - this.first.number];
  }

  /** The block that has a transaction. */
  findBlockOf(id: string): Block | undefined {
    const number = this.places.get(id);
    return number === undefined ? undefined : this.getBlock(number);
  }

  /** @param layer upon `top`, what the block changes */
  append(block: Block, layer: Layer): void {
    const { blocks, layers, base } = this.data;
    this.keep({ block, layer });
    blocks.push(block);
    layers.push(layer);
    this.index(block);
    while (layers.length > this.solidLag) {
      layers.shift()?.mergeInto(base);
      const [lowest] = layers;
      // else the layers that were merged would stay in memory
      if (lowest) lowest.parent = base;
    }
    while (blocks.length > recentBlocks || (this.places.size > keptTransactions && blocks.length > layers.length + 1)) {
      for (const { id } of blocks.shift()?.transactions ?? []) this.places.delete(id);
    }
  }

  /**
   * Takes the last blocks away.
   * @throws RangeError for those that are solidified
   */
  rollback(depth: number): Block[] {
    const { blocks, layers } = this.data;
    if (depth < 1 || depth > layers.length) throw new RangeError(`only ${layers.length} blocks can be replaced`);
    this.keep({ rollback: depth });
    const removed = blocks.splice(-depth);
    layers.splice(-depth);
    for (const { id } of removed.flatMap((block) => block.transactions)) this.places.delete(id);
    return removed;
  }

  private index({ number, transactions }: Block): void {
    for (const { id } of transactions) this.places.set(id, number);
  }
}

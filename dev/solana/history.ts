import { createHash } from 'node:crypto';
import type { Account } from './accounts';
import type { Json, JsonObject } from './json';
import { limits, maxProcessingAge } from './parameters';
import { base58 } from './transactions';

export const commitments = ['processed', 'confirmed', 'finalized'] as const;
export type Commitment = (typeof commitments)[number];

export interface IncludedTransaction {
  id: string;
  messageKey: string;
  /** As it was sent, base64. */
  bytes: string;
  version: 'legacy' | 0;
  err: Json;
  /** All that getTransaction shows as `meta`. */
  meta: JsonObject;
  /** Micro-lamports a compute unit. */
  unitPrice: bigint;
  writable: string[];
}

export interface Block {
  slot: number;
  /** Blocks have consecutive heights; slots may be skipped. */
  height: number;
  /** Seconds. */
  time: number;
  hash: string;
  parentHash: string;
  parentSlot: number;
  transactions: IncludedTransaction[];
}

/** Accounts that a block has changed; undefined: there was none, or there is none any more. */
export interface AccountChange {
  key: string;
  before: Account | undefined;
  after: Account | undefined;
}

/** The last block, and those that may still be undone have their changes. */
export interface Entry {
  block: Block;
  changes: AccountChange[];
}

export interface Lags {
  /** A block is confirmed when so many follow it. */
  confirmed: number;
  finalized: number;
}

export const hashOf = (...parts: (string | number)[]): string => base58(createHash('sha256').update(parts.join('|')).digest());

/** The blocks, where their transactions are, and what accounts were at the blocks that are not finalized. */
export class History {
  private readonly heights = new Map<number, number>();
  private readonly places = new Map<string, number>();
  private readonly messages = new Map<string, number>();
  private readonly hashes = new Map<string, number>();

  constructor(
    private readonly entries: Entry[],
    readonly lags: Lags,
  ) {
    for (const { block } of entries) this.index(block);
    for (const entry of entries) if (entry.block.height <= this.height('finalized')) entry.changes = [];
  }

  get head(): Block {
    return (this.entries.at(-1) as Entry).block;
  }

  get first(): Block {
    return (this.entries[0] as Entry).block;
  }

  height(commitment: Commitment): number {
    const lag = commitment === 'processed' ? 0 : this.lags[commitment];
    return Math.max(this.first.height, this.head.height - lag);
  }

  at(height: number): Block | undefined {
    return this.entries[height - this.first.height]?.block;
  }

  bySlot(slot: number): Block | undefined {
    const height = this.heights.get(slot);
    return height === undefined ? undefined : this.at(height);
  }

  /** The block of a transaction, by one of its signatures. */
  blockOf(id: string): Block | undefined {
    const height = this.places.get(id);
    return height === undefined ? undefined : this.at(height);
  }

  /** The height of the block that has a message, whoever signed it. */
  heightOfMessage(messageKey: string): number | undefined {
    return this.messages.get(messageKey);
  }

  /** Blocks since that of a blockhash, at a height; undefined if it is not known there, or too old. */
  age(blockhash: string, height: number): number | undefined {
    const of = this.hashes.get(blockhash);
    return of === undefined || of > height || height - of > maxProcessingAge ? undefined : height - of;
  }

  /** What an account was after the block of this height, by what later blocks have changed. `otherwise`: it has not changed since. */
  accountAt(key: string, height: number, otherwise: () => Account | undefined): Account | undefined {
    for (const { changes } of this.entries.slice(Math.max(0, height + 1 - this.first.height))) {
      const change = changes.find((entry) => entry.key === key);
      if (change) return change.before;
    }
    return otherwise();
  }

  /** Keys that were changed since. */
  changedSince(height: number): string[] {
    return this.entries
      .slice(Math.max(0, height + 1 - this.first.height))
      .flatMap(({ changes }) => changes.map(({ key }) => key));
  }

  append(entry: Entry): void {
    this.entries.push(entry);
    this.index(entry.block);
    const final = this.entries[this.height('finalized') - this.first.height];
    // nothing asks for what was before it
    if (final) final.changes = [];
    while (this.entries.length > limits.keptBlocks || (this.places.size > limits.keptTransactions && this.canForget())) {
      this.forget((this.entries.shift() as Entry).block);
    }
  }

  /** Blocks that are processed and not confirmed: the network does not replace others. */
  get replaceable(): number {
    return this.head.height - this.height('confirmed');
  }

  rollback(depth: number): Entry[] {
    const removed = this.entries.splice(-depth);
    for (const { block } of removed) this.forget(block);
    return removed;
  }

  private canForget(): boolean {
    return this.entries.length > this.lags.finalized + maxProcessingAge + 2;
  }

  private index({ slot, height, hash, transactions }: Block): void {
    this.heights.set(slot, height);
    this.hashes.set(hash, height);
    for (const { id, messageKey } of transactions) {
      this.places.set(id, height);
      this.messages.set(messageKey, height);
    }
  }

  private forget({ slot, hash, transactions }: Block): void {
    this.heights.delete(slot);
    this.hashes.delete(hash);
    for (const { id, messageKey } of transactions) {
      this.places.delete(id);
      this.messages.delete(messageKey);
    }
  }
}

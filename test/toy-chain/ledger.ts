import {
  feeOf,
  openTransaction,
  paymentsOf,
  sha256,
  spentBy,
  type ToyInput,
  type ToyMessage,
  type ToyTransaction,
} from './message';
import type { BroadcastOutcome } from '../../src/chains/chain-client';
import type { Hex } from '../../src/chains/types';

export interface ToyBlock {
  number: number;
  hash: string;
  parentHash: string;
  transactions: ToyTransaction[];
}

export const zeroHash = '0'.repeat(64);

/** The toy chain, in memory, with one node. Blocks are mined only by tests. */
export class ToyLedger {
  private blocks: ToyBlock[] = [{ number: 0, hash: sha256('genesis'), parentHash: zeroHash, transactions: [] }];
  private readonly pool = new Map<string, ToyTransaction>();
  private readonly held = new Set<string>();
  private readonly guardians = new Map<string, string>();
  private made = 0;
  /** Number of the newest block, or the last one that was skipped after it. */
  height = 0;
  /** The current fee of a transaction. */
  fee = 10n;
  /** Nothing that arrives is mined before `releaseHeld`. */
  holdsArrivals = false;
  /** Every call of `accept`, accepted or not. */
  readonly received: Hex[] = [];

  /** From now on a transaction of this address has to spend an output of its guardian too, who therefore signs as well. */
  guard(address: string, guardian: string): void {
    this.guardians.set(address, guardian);
  }

  guardianOf(address: string): string | undefined {
    return this.guardians.get(address);
  }

  /** Adds an output without inputs to the pool; returns the id of its transaction. */
  grant(from: string, to: string, amount: bigint): string {
    this.made += 1;
    const message: ToyMessage = {
      chain: '',
      from,
      inputs: [],
      outputs: [{ to, amount }],
      change: [],
      expiryHeight: Number.MAX_SAFE_INTEGER,
    };
    const id = sha256(`grant ${this.made}`);
    this.pool.set(id, { id, messageKey: id, message, bytes: '0x' });
    return id;
  }

  accept(bytes: Hex): BroadcastOutcome {
    this.received.push(bytes);
    const transaction = openTransaction(bytes);
    const { id, message } = transaction;
    if (this.pool.has(id) || this.find(id)) return { outcome: 'accepted' };
    const problem = this.problemOf(message);
    if (problem) return { outcome: 'rejected', reason: problem };
    this.pool.set(id, transaction);
    if (this.holdsArrivals) this.held.add(id);
    return { outcome: 'accepted' };
  }

  /** Stays in the pool and is not mined. */
  hold(id: string): void {
    this.held.add(id);
  }

  releaseHeld(): void {
    this.holdsArrivals = false;
    this.held.clear();
  }

  /** Dropped by the pool; anyone with the bytes can send them again. */
  drop(id: string): void {
    this.pool.delete(id);
  }

  mine(count = 1): void {
    for (let index = 0; index < count; index += 1) this.mineBlock();
  }

  /** Skips block numbers. */
  skip(count: number): void {
    this.height += count;
  }

  /** Removes the newest blocks; their transactions return to the pool, or are lost. Other blocks follow when they are mined. */
  reorganise(depth: number, { isLost = false } = {}): void {
    const gone = this.blocks.splice(Math.max(1, this.blocks.length - depth));
    this.height = this.tip.number;
    if (isLost) return;
    for (const transaction of gone.flatMap(({ transactions }) => transactions)) this.pool.set(transaction.id, transaction);
  }

  get tip(): ToyBlock {
    return this.blocks.at(-1) as ToyBlock;
  }

  block(number: number): ToyBlock | null {
    return this.blocks.find((block) => block.number === number) ?? null;
  }

  range(from: number, to: number): ToyBlock[] {
    return this.blocks.filter(({ number }) => number >= from && number <= to);
  }

  find(id: string): { transaction: ToyTransaction; block: ToyBlock } | null {
    return this.search((transaction) => transaction.id === id);
  }

  findByMessage(key: string): { transaction: ToyTransaction; block: ToyBlock } | null {
    return this.search(({ messageKey }) => messageKey === key);
  }

  findSpender(inputId: string): { transaction: ToyTransaction; block: ToyBlock } | null {
    return this.search(({ message }) => spentBy(message).some(({ id }) => id === inputId));
  }

  pending(key: string): ToyTransaction | undefined {
    return [...this.pool.values()].find(({ messageKey }) => messageKey === key);
  }

  /** Ids of the transactions in the pool, oldest first. */
  get pooled(): string[] {
    return [...this.pool.keys()];
  }

  /** Outputs of mined transactions that no mined transaction spends. */
  unspent(owner?: string): ToyInput[] {
    const mined = this.blocks.flatMap(({ transactions }) => transactions);
    const spent = new Set(mined.flatMap(({ message }) => spentBy(message).map(({ id }) => id)));
    return mined.flatMap(outputsOf).filter((output) => !spent.has(output.id) && (owner === undefined || output.owner === owner));
  }

  private search(matches: (transaction: ToyTransaction) => boolean) {
    for (const block of this.blocks) {
      const transaction = block.transactions.find(matches);
      if (transaction) return { transaction, block };
    }
    return null;
  }

  private mineBlock(): void {
    const number = this.height + 1;
    const { hash: parentHash } = this.tip;
    this.made += 1;
    const block: ToyBlock = { number, hash: sha256(`${parentHash} ${number} ${this.made}`), parentHash, transactions: [] };
    this.blocks.push(block);
    this.height = number;
    const byFee = [...this.pool.values()].sort((a, b) => Number(feeOf(b.message) - feeOf(a.message)));
    for (const transaction of byFee) {
      if (this.held.has(transaction.id)) continue;
      if (transaction.message.inputs.length > 0 && this.problemOf(transaction.message, number)) continue;
      block.transactions.push(transaction);
      this.pool.delete(transaction.id);
    }
  }

  /** Why the message cannot be in the block of this number. */
  private problemOf(message: ToyMessage, number = this.height + 1): string | null {
    const { inputs, from, expiryHeight } = message;
    if (number > expiryHeight) return 'it has expired';
    const unspent = this.unspent();
    const isUnspent = ({ id, owner, amount }: ToyInput) =>
      unspent.some((output) => output.id === id && output.owner === owner && output.amount === amount);
    if (!spentBy(message).every(isUnspent)) return 'an input is spent or does not exist';
    const guardian = this.guardians.get(from);
    if (guardian && !inputs.some(({ owner }) => owner === guardian)) return 'the guardian of its sender has not signed';
    return null;
  }
}

/** What is paid first, then change. */
function outputsOf({ id, message }: ToyTransaction): ToyInput[] {
  return [...paymentsOf(message), ...message.change].map(({ to, amount }, index) => ({
    id: `${id}:${index}`,
    owner: to,
    amount,
  }));
}

import { maxUnconfirmed, type UnconfirmedTransaction } from '../unconfirmed';
import type { UnspentOutput } from '../outputs';

/**
 * What may depend on each other in no block, a transaction itself included; `size` in virtual bytes. Bitcoin Core takes 25 ancestors and 25
 * descendants of 101,000 each (doc/policy/mempool-limits in src/policy/policy.h): what others make of a payment counts too, so that less is
 * used here.
 */
export const poolLimits = { transactions: 12, size: 50_000 } as const;

/** What a transaction pays for others that it depends on. */
export interface Package {
  /** Satoshis per virtual byte that all of them are to pay together. */
  rate: bigint;
  /** Satoshis that the others lack at this rate. */
  deficit: bigint;
}

/** Transactions of one account that are in no block, and spend each other's change. */
export class UnconfirmedTransactions {
  private readonly byId: ReadonlyMap<string, UnconfirmedTransaction>;
  private readonly children = new Map<string, string[]>();
  private readonly isComplete: boolean;

  constructor(all: readonly UnconfirmedTransaction[]) {
    this.isComplete = all.length <= maxUnconfirmed;
    this.byId = new Map(all.map((transaction) => [transaction.txId, transaction]));
    for (const { txId, parents } of all)
      for (const parent of parents) this.children.set(parent, [...(this.children.get(parent) ?? []), txId]);
  }

  /** Change that a further transaction may spend, the biggest first. */
  get spendable(): (UnspentOutput & { maker: string })[] {
    if (!this.isComplete) return [];
    return [...this.byId.values()]
      .flatMap(({ txId: maker, change }) => (change ? [{ ...change, maker }] : []))
      .filter(({ maker }) => this.hasRoom([maker], 0n))
      .sort((a, b) => (a.amount === b.amount ? 0 : a.amount > b.amount ? -1 : 1));
  }

  /** Whether a further transaction of this size may spend the change of these. */
  hasRoom(parents: readonly string[], size: bigint): boolean {
    const ancestors = this.ancestors(parents);
    if (!fits(ancestors, size)) return false;
    return ancestors.every(({ txId }) => fits(this.descendants(txId), size));
  }

  /** Those without which what spends the change of `parents` cannot be executed, these included. */
  ancestors(parents: readonly string[]): UnconfirmedTransaction[] {
    return this.reach(parents, ({ parents: above }) => above);
  }

  parentsOf(txId: string): string[] {
    return this.byId.get(txId)?.parents ?? [];
  }

  /** Itself and those that depend on it. */
  private descendants(txId: string): UnconfirmedTransaction[] {
    return this.reach([txId], (transaction) => this.children.get(transaction.txId) ?? []);
  }

  private reach(from: readonly string[], next: (transaction: UnconfirmedTransaction) => string[]): UnconfirmedTransaction[] {
    const ids = new Set(from);
    const found: UnconfirmedTransaction[] = [];
    // what is added is read too
    for (const id of ids) {
      const transaction = this.byId.get(id);
      if (!transaction) continue;
      found.push(transaction);
      for (const further of next(transaction)) ids.add(further);
    }
    return found;
  }
}

const fits = (others: readonly UnconfirmedTransaction[], size: bigint): boolean =>
  others.length < poolLimits.transactions && sumOf(others, 'size') + size <= BigInt(poolLimits.size);

const sumOf = (transactions: readonly UnconfirmedTransaction[], field: 'size' | 'fee'): bigint =>
  transactions.reduce((sum, transaction) => sum + BigInt(transaction[field]), 0n);

/** Satoshis. */
export const feesOf = (transactions: readonly UnconfirmedTransaction[]): bigint => sumOf(transactions, 'fee');

/** Miners take a transaction with all that it depends on, by the rate of all of them together. */
export function toPackage(ancestors: readonly UnconfirmedTransaction[], rate: bigint): Package {
  const missing = rate * sumOf(ancestors, 'size') - feesOf(ancestors);
  return { rate, deficit: missing > 0n ? missing : 0n };
}

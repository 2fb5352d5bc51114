import { keccak256, serializeTransaction, type Hex, type Transaction } from 'viem';

/** A node whose journal has an entry, and the peer that the entry names. */
export interface Participant {
  node: number;
  peer: number;
}

export interface Records {
  /** Of the gateway, in lower case. */
  addresses: ReadonlySet<string>;
  /** Digests that orders permit. */
  ordered: ReadonlySet<string>;
  /** By digest. */
  entries: ReadonlyMap<string, readonly Participant[]>;
}

/** What is not on record of a transaction on a chain: its order, or the entries of two nodes that name each other. */
export function differencesOf(transaction: Transaction, chain: string, { addresses, ordered, entries }: Records): string[] {
  if (!addresses.has(transaction.from.toLowerCase())) return [];
  const differences: string[] = [];
  const digest = digestOf(transaction);
  if (!ordered.has(digest)) differences.push(`${transaction.hash} on ${chain} has no order`);
  const pairs = entries.get(digest) ?? [];
  const isMutual = pairs.some((one) => pairs.some((other) => one.node === other.peer && one.peer === other.node));
  if (!isMutual) differences.push(`${transaction.hash} on ${chain} has entries of ${JSON.stringify(pairs)}`);
  return differences;
}

/** What was signed, computed from what the chain has executed. */
function digestOf({ type, chainId, nonce, gas, to, value, input, ...fees }: Transaction): Hex {
  const common = { chainId: chainId ?? 0, nonce, gas, to, value, data: input };
  if (type === 'eip1559') {
    const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = fees;
    return keccak256(serializeTransaction({ ...common, type, maxFeePerGas, maxPriorityFeePerGas }));
  }
  return keccak256(serializeTransaction({ ...common, type: 'legacy', gasPrice: fees.gasPrice ?? 0n }));
}

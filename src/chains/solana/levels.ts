import type { SolanaNode } from './node';

/** Of the recent blocks that took payments like this one, three in four were paid less, in hundredths. */
const percentile = 75;

/** Where recent blocks show nothing, millionths of a lamport for a unit: 0.000001 SOL for a payment, which leaves room in its bound. */
const least = 10_000n;

/** Priority fee of recent blocks that have written to these accounts, millionths of a lamport for a unit. At most 128 accounts. */
export async function fetchPrice(node: SolanaNode, accounts: string[]): Promise<bigint> {
  const prices = (await node.recentPrices(accounts)).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const usual = prices[Math.floor((prices.length * percentile) / 100)] ?? 0n;
  return usual > least ? usual : least;
}

import type { EndpointList } from '../endpoints';
import type { IsOurs, PoolReader } from '../chain-client';
import type { PendingDeposit } from '../types';
import type { BitcoinBackend } from './backend';
import { parseRawTransaction, type RawTransaction } from './block';
import type { BitcoinNetwork } from './network';
import { findPayments, readScripts, type Scripts, toCandidates } from './scan';
import { dustLimit } from './sizes';

/** Transactions that are asked for at the same time. */
const concurrency = 8;
/** Of a P2WPKH output that nodes relay; in satoshis. */
const smallestAmount = dustLimit(new Uint8Array(22));

/** What waits for a block in the pools of Bitcoin nodes. */
export class BitcoinPool implements PoolReader {
  constructor(
    private readonly endpoints: EndpointList<BitcoinBackend>,
    private readonly network: BitcoinNetwork,
  ) {}

  ids(): Promise<string[]> {
    return this.endpoints.run((node) => node.pool());
  }

  async deposits(ids: string[], isOurs: IsOurs): Promise<PendingDeposit[]> {
    const read = await this.endpoints.run((node) => inGroups(ids, (id) => readTransaction(node, id)));
    const transactions = read.flatMap((transaction) => transaction ?? []);
    const scripts = transactions.map(readScripts);
    const ours = await isOurs(toCandidates(scripts));
    return transactions
      .flatMap((transaction, index) => findPayments(this.network, transaction, scripts[index] as Scripts, ours))
      .filter(({ amount }) => amount >= smallestAmount);
  }

  findGone(ids: string[]): Promise<string[]> {
    return this.endpoints.run(async (node) => {
      const found = await inGroups(ids, (id) => node.findTransaction(id));
      return ids.filter((_id, index) => found[index] === null);
    });
  }
}

/** null: the node has it no longer. @throws Error for another transaction than was asked for. */
async function readTransaction(node: BitcoinBackend, id: string): Promise<RawTransaction | null> {
  const bytes = await node.poolTransaction(id);
  if (bytes === null) return null;
  const transaction = parseRawTransaction(bytes);
  if (transaction.id !== id) throw new Error('the answer is about another transaction');
  return transaction;
}

async function inGroups<T>(ids: string[], work: (id: string) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let start = 0; start < ids.length; start += concurrency)
    results.push(...(await Promise.all(ids.slice(start, start + concurrency).map(work))));
  return results;
}

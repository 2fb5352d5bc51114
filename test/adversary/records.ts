import { createPublicClient, http, type Transaction } from 'viem';
import { nodeIndexes, type NodeIndex } from '../../src/messages/nodes';
import { getChains } from '../../src/chains/registry/data';
import { gateway } from '../e2e/gateway';
import { stack } from '../stack/client';
import { nodeEnvironment, nodeIsBack, nodeQuery } from './nodes';
import { gatewayQuery } from './processes';
import { differencesOf, type Participant } from './record-differences';

const blocksAtOnce = 50;

/**
 * What is not on record: transactions on the EVM chains, from addresses of the gateway, without an order over their digest or without
 * entries of two nodes that name each other; and what `gateway mpc journal verify --peers` finds at each node. Empty if all is well.
 */
export async function recordDifferences(): Promise<string[]> {
  for (const node of nodeIndexes) await nodeIsBack(node);
  const [addresses, ordered, entries] = await Promise.all([ownAddresses(), orderedDigests(), entriesByDigest()]);
  const differences: string[] = [];
  for (const name of evmChains())
    for await (const transaction of transactionsOn(name))
      differences.push(...differencesOf(transaction, name, { addresses, ordered, entries }));
  return [...differences, ...(await Promise.all(nodeIndexes.map(journalDifferences))).flat()];
}

/** Of the running stack; transactions of other families name their senders otherwise. */
const evmChains = (): string[] =>
  getChains('local').flatMap(({ name, family }) => (family === 'evm' && stack().chains[name] ? [name] : []));

async function journalDifferences(node: NodeIndex): Promise<string[]> {
  const env = nodeEnvironment(node) as Record<string, string>;
  const { code, out, err } = await gateway(['mpc', 'journal', 'verify', '--peers'], env);
  return code === 0 ? [] : [`node ${node}: ${out}${err}`];
}

async function ownAddresses(): Promise<Set<string>> {
  const rows = await gatewayQuery<{ address: string }>(`select lower(address) as address from accounts where family = 'evm'`);
  return new Set(rows.map(({ address }) => address));
}

async function orderedDigests(): Promise<Set<string>> {
  const rows = await gatewayQuery<{ digest: string }>(
    `select jsonb_array_elements_text(signer -> 'digests') as digest
       from orders, jsonb_array_elements(claims -> 'signers') signer where tx_id is not null`,
  );
  return new Set(rows.map(({ digest }) => digest));
}

/** Whose journal has an entry about a digest, and with which peer. */
async function entriesByDigest(): Promise<Map<string, Participant[]>> {
  const byDigest = new Map<string, Participant[]>();
  for (const node of nodeIndexes) {
    const rows = await nodeQuery<{ digest: string; peer: number }>(
      node,
      `select distinct digests[payload + 1] as digest, peer from journal`,
    );
    for (const { digest, peer } of rows) byDigest.set(digest, [...(byDigest.get(digest) ?? []), { node, peer }]);
  }
  return byDigest;
}

async function* transactionsOn(name: string): AsyncIterable<Transaction> {
  const chain = createPublicClient({ transport: http(stack().chains[name]?.rpc) });
  const head = await chain.getBlockNumber();
  for (let from = 1n; from <= head; from += BigInt(blocksAtOnce)) {
    const numbers = Array.from({ length: blocksAtOnce }, (_, at) => from + BigInt(at)).filter((number) => number <= head);
    const blocks = await Promise.all(numbers.map((blockNumber) => chain.getBlock({ blockNumber, includeTransactions: true })));
    for (const { transactions } of blocks) yield* transactions;
  }
}

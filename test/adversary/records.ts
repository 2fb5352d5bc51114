import { nodeIndexes, type NodeIndex } from '../../src/messages/nodes';
import type { OrderKind } from '../../src/messages/order';
import { gateway } from '../e2e/gateway';
import { executedOnChains } from './executed';
import { nodeEnvironment, nodeIsBack, nodeQuery } from './nodes';
import { gatewayQuery } from './processes';
import { differencesOf, type Participant } from './record-differences';

/**
 * What is not on record: anything on the chains that accounts of the gateway have signed (transactions, payments that somebody else carries
 * out, inputs) without an order over its digest or without entries of two nodes that name each other; and what `gateway mpc journal verify
 * --peers` finds at each node. Empty if all is well.
 */
export async function recordDifferences(): Promise<string[]> {
  for (const node of nodeIndexes) await nodeIsBack(node);
  const found = await Promise.all([unrecorded(), ...nodeIndexes.map(journalDifferences)]);
  return found.flat();
}

async function unrecorded(): Promise<string[]> {
  const [ordered, entries] = await Promise.all([orderedDigests(), entriesByDigest()]);
  const differences: string[] = [];
  for await (const executed of executedOnChains()) differences.push(...differencesOf(executed, { ordered, entries }));
  return differences;
}

async function journalDifferences(node: NodeIndex): Promise<string[]> {
  const env = nodeEnvironment(node) as Record<string, string>;
  const { code, out, err } = await gateway(['mpc', 'journal', 'verify', '--peers'], env);
  return code === 0 ? [] : [`node ${node}: ${out}${err}`];
}

async function orderedDigests(): Promise<Map<string, OrderKind>> {
  const rows = await gatewayQuery<{ digest: string; kind: OrderKind }>(
    `select jsonb_array_elements_text(signer -> 'digests') as digest, kind
       from orders, jsonb_array_elements(claims -> 'signers') signer where tx_id is not null`,
  );
  return new Map(rows.map(({ digest, kind }) => [digest, kind]));
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

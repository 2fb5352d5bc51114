import type { FindOrigins, OutputOrigin } from '../chain-client';
import type { BitcoinBackend } from './backend';
import { parseRawTransaction, type RawTransaction } from './block';

/** Id of the transaction that makes an output. */
const getMaker = (resource: string): string => resource.slice(0, 64);

/** Inputs that are kept of a transaction. */
const maxInputs = 500;
/** Transactions of one block that are kept beside those that make outputs of the gateway. */
const maxAncestors = 100;
/** Look-ups at the node for one block. */
const maxLookUps = 20;

const toOrigin = ({ id, inputs }: RawTransaction, blockNumber: number): OutputOrigin => ({
  id,
  blockNumber,
  inputs: inputs.slice(0, maxInputs).map(({ resource }) => resource),
});

/** Of the transactions with these ids, and of those of the same block that they descend from. What a coinbase spends cannot be spent otherwise. */
export function findOriginsInBlock(
  transactions: readonly RawTransaction[],
  blockNumber: number,
  makers: readonly string[],
): OutputOrigin[] {
  if (makers.length === 0) return [];
  const byId = new Map(transactions.flatMap((it) => (it.isCoinbase ? [] : [[it.id, it] as const])));
  const ids = new Set(makers);
  // what is added is read too
  for (const id of ids)
    for (const { resource } of byId.get(id)?.inputs ?? [])
      if (byId.has(getMaker(resource)) && ids.size < makers.length + maxAncestors) ids.add(getMaker(resource));
  return [...ids].flatMap((id) => {
    const transaction = byId.get(id);
    return transaction ? [toOrigin(transaction, blockNumber)] : [];
  });
}

/** Those that these descend from, in earlier blocks above `finalBlock`: a reorganisation could remove them too. */
export async function findEarlierOrigins(
  node: BitcoinBackend,
  origins: readonly OutputOrigin[],
  finalBlock: number,
): Promise<OutputOrigin[]> {
  const known = new Set(origins.map(({ id }) => id));
  const found: OutputOrigin[] = [];
  const open = origins.flatMap(({ inputs }) => inputs.map(getMaker));
  for (let lookUps = 0; lookUps < maxLookUps && open.length > 0;) {
    const id = open.shift() as string;
    if (known.has(id)) continue;
    known.add(id);
    lookUps += 1;
    const block = (await node.findTransaction(id))?.block;
    if (!block || block.number <= finalBlock) continue;
    const transaction = parseRawTransaction(await node.transaction(id));
    if (transaction.id !== id || transaction.isCoinbase) continue;
    const origin = toOrigin(transaction, block.number);
    found.push(origin);
    open.push(...origin.inputs.map(getMaker));
  }
  return found;
}

/** What is known of the descent of outputs that are in no block. */
export interface Descent {
  /** Inputs of the transactions that they descend from, which the rows say that another transaction has spent. */
  conflicts: { ancestor: string; resource: string; usedBy: string }[];
  /** Transactions of others that they descend from. */
  foreign: string[];
}

/** Generations and transactions that are looked at: no pool holds more that depend on each other. */
const maxGenerations = 25;
const maxTransactions = 200;

/** Of outputs that no scanned block holds. */
export async function findDescent(findOrigins: FindOrigins, resources: readonly string[]): Promise<Descent> {
  const descent: Descent = { conflicts: [], foreign: [] };
  const seen = new Set<string>();
  /** Id, and whether an attempt of the gateway spends of it. */
  let open = new Map(resources.map((resource) => [getMaker(resource), true]));
  for (let generation = 0; generation < maxGenerations && open.size > 0 && seen.size < maxTransactions; generation += 1) {
    for (const id of open.keys()) seen.add(id);
    const origins = await findOrigins([...open.keys()]);
    const ours = new Set(origins.flatMap(({ id, isOurs }) => (isOurs ? [id] : [])));
    descent.foreign.push(...[...open].flatMap(([id, isSpentByUs]) => (isSpentByUs && !ours.has(id) ? [id] : [])));
    for (const { id, inputs } of origins)
      for (const { resource, usedBy } of inputs)
        if (usedBy !== null && usedBy !== id) descent.conflicts.push({ ancestor: id, resource, usedBy });
    const above = origins.flatMap(({ isOurs, inputs }) =>
      inputs.flatMap(({ resource, isInBlock }) =>
        isInBlock || seen.has(getMaker(resource)) ? [] : [[getMaker(resource), isOurs] as const],
      ),
    );
    open = new Map(above.sort(([, one], [, other]) => Number(one) - Number(other)).slice(-maxTransactions));
  }
  return descent;
}

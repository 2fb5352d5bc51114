import type { OrderKind } from '../../src/messages/order';

/** Whose account it is: keys of the house and those of clients sign for orders of other kinds. */
export type Owner = 'client' | 'house';

/** What a chain has executed and an account of the gateway must have signed. */
export interface Executed {
  /** Names it in what is reported. */
  subject: string;
  /** Of what was signed, 0x…; null: the chain does not show what that was. */
  digest: string | null;
  owner: Owner;
}

/** A node whose journal has an entry, and the peer that the entry names. */
export interface Participant {
  node: number;
  peer: number;
}

export interface Records {
  /** Kind of the order that permits a digest. */
  ordered: ReadonlyMap<string, OrderKind>;
  /** By digest. */
  entries: ReadonlyMap<string, readonly Participant[]>;
}

const later: readonly OrderKind[] = ['replacement', 'cancellation'];
const kinds: Record<Owner, readonly OrderKind[]> = {
  client: ['transfer', 'typed_data', 'consolidation', ...later],
  house: ['settlement', 'gas', 'withdrawal', ...later],
};

/** What is not on record of it: an order of a kind that the owner signs, or the entries of two nodes that name each other. */
export function differencesOf({ subject, digest, owner }: Executed, { ordered, entries }: Records): string[] {
  if (digest === null) return [`${subject} does not show what was signed`];
  const differences: string[] = [];
  const kind = ordered.get(digest);
  if (kind === undefined) differences.push(`${subject} has no order`);
  else if (!kinds[owner].includes(kind)) differences.push(`${subject} of the ${owner} has an order of kind ${kind}`);
  const pairs = entries.get(digest) ?? [];
  const isMutual = pairs.some((one) => pairs.some((other) => one.node === other.peer && one.peer === other.node));
  if (!isMutual) differences.push(`${subject} has entries of ${JSON.stringify(pairs)}`);
  return differences;
}

import type { EntityManager } from 'typeorm';

/** Lists whose rows the database counts as they are inserted (migrations/0065-list-totals.ts). */
export type CountedList = 'wallets' | 'accounts' | 'transactions';

export interface CountedRows {
  list: CountedList;
  clientId: string;
  /** The client, or one of its wallets or accounts. */
  subjectId: string;
  chain?: string | undefined;
}

export const listTotal = /* sql */ `
  select coalesce(sum(total), 0) as total from list_totals
   where list = $1 and subject_id = $2 and client_id = $3 and ($4::text is null or chain = $4)`;

/** The parameters of `listTotal`. */
export const countedValues = ({ list, clientId, subjectId, chain }: CountedRows): (string | null)[] => [
  list,
  subjectId,
  clientId,
  chain ?? null,
];

/** How many rows a list has, exactly, without reading them; 0 for a subject of another client. */
export async function countListed(manager: EntityManager, counted: CountedRows): Promise<number> {
  const [row] = await manager.query<{ total: string }[]>(listTotal, countedValues(counted));
  return Number(row?.total ?? 0);
}

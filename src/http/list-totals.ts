import type { DataSource, EntityManager } from 'typeorm';

/** Lists whose rows the database counts as they are inserted (migrations/0065-list-totals.ts). */
export type CountedList = 'wallets' | 'accounts' | 'transactions';

export interface CountedRows {
  list: CountedList;
  clientId: string;
  /** The client, or one of its wallets or accounts. */
  subjectId: string;
  chain?: string | undefined;
}

/** Rows that come and go, which the database counts by their changes (migrations/0094-list-counts.ts). */
export interface ChangingRows {
  list: 'deliveries' | 'assets';
  /** The endpoint; of assets the client. The caller has checked that it is the caller's. */
  subjectId: string;
  /** The status of deliveries; undefined: whatever it is. */
  part?: string | undefined;
}

export type Counted = CountedRows | ChangingRows;

export const listTotal = /* sql */ `
  select coalesce(sum(total), 0) as total from list_totals
   where list = $1 and subject_id = $2 and client_id = $3 and ($4::text is null or chain = $4)`;

const listCount = /* sql */ `
  select coalesce(sum(counted), 0) as total from list_counts
   where list = $1 and subject_id = $2 and ($3::text is null or part = $3)`;

export interface TotalStatement {
  /** Selects `total`. */
  text: string;
  values: (string | null)[];
}

/** How many rows a list has, exactly, without reading them; of lists with a client, 0 for a subject of another one. */
export const toTotal = (counted: Counted): TotalStatement =>
  'clientId' in counted
    ? { text: listTotal, values: [counted.list, counted.subjectId, counted.clientId, counted.chain ?? null] }
    : { text: listCount, values: [counted.list, counted.subjectId, counted.part ?? null] };

export async function countListed(manager: EntityManager, counted: Counted): Promise<number> {
  const { text, values } = toTotal(counted);
  const [row] = await manager.query<{ total: string }[]>(text, values);
  return Number(row?.total ?? 0);
}

const changesAtOnce = 10_000;
const batchesAtOnce = 100;

/**
 * Adds up the changes of lists whose rows come and go. A total is the same before and after, but reads all changes that nobody has added up;
 * several processes may do it at a time.
 */
export async function foldListCounts(database: DataSource): Promise<void> {
  for (let folded = changesAtOnce, batch = 0; folded === changesAtOnce && batch < batchesAtOnce; batch += 1) {
    const [row] = await database.query<{ folded: number }[]>('select fold_list_counts($1) as folded', [changesAtOnce]);
    folded = row?.folded ?? 0;
  }
}

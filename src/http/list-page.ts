import type { EntityManager } from 'typeorm';
import { type CountedRows, countedValues, listTotal } from './list-totals';
import type { LimitOffset } from './pagination';

/** A table whose rows are listed in the order of their ids, the newest first. */
export interface ListedTable {
  table: string;
  /** The column of the id. */
  id: string;
  /** The select list; `t` is the table. */
  select: string;
}

/** Columns and their values, all of which a row has to have. */
export type ColumnValues<C extends string> = [column: C, value: string][];

export type PageRow = Record<string, unknown>;

/** Parameters of `listTotal`, which come first. */
const totalValues = 4;

/**
 * One page with the total of its list: to send a second statement costs the API more than the database needs for it. An empty page has one
 * row, whose columns are null, but for the total. Limit and offset are in the text: the plan depends on them.
 */
export function pageStatement(
  { table, id, select }: ListedTable,
  columns: readonly string[],
  { limit, offset }: LimitOffset,
): string {
  const conditions = columns.map((column, index) => `${column} = $${totalValues + 1 + index}`).join(' and ');
  return `select n.total, ${select} from (${listTotal}) n
    left join (select * from ${table} where ${conditions} order by ${id} desc limit ${BigInt(limit)} offset ${BigInt(offset)}) t on true
    order by t.${id} desc`;
}

/** The same of a list that is read whole: for what has a row or two at most. */
export const toPage = <T>(rows: T[], { limit, offset }: LimitOffset): [rows: T[], total: number] => [
  rows.slice(offset, offset + limit),
  rows.length,
];

/** The rows of a page, and how many the whole list has. */
export async function findPage<C extends string>(
  manager: EntityManager,
  table: ListedTable,
  where: ColumnValues<C>,
  counted: CountedRows,
  page: LimitOffset,
): Promise<[rows: PageRow[], total: number]> {
  const columns = where.map(([column]) => column);
  const values = [...countedValues(counted), ...where.map(([, value]) => value)];
  const rows = await manager.query<PageRow[]>(pageStatement(table, columns, page), values);
  return [rows, Number(rows[0]?.total ?? 0)];
}

import type { EntityManager } from 'typeorm';
import { type Counted, countListed, type TotalStatement, toTotal } from './list-totals';
import type { LimitOffset } from './pagination';

/** A table whose rows are listed in the order of a column, the highest first. */
export interface ListedTable {
  table: string;
  /** Which of its rows are listed at all; undefined: all. */
  condition?: string;
  /** The column; a list has each of its values once. */
  orderedBy: string;
  /** The select list; `t` is the table. */
  select: string;
  /** Outer joins of what else the select list has, for the rows of the page alone. */
  joins?: string;
}

/** Columns and their values, all of which a row has to have. */
export type ColumnValues<C extends string> = [column: C, value: string][];

export interface ListedRows<C extends string> {
  /** What the index of the list begins with. */
  where: ColumnValues<C>;
  /** Compared when the rows are read: `where` names something whose rows are all of one client, be it another one. */
  clientId?: string;
}

export type PageRow = Record<string, unknown>;

export interface OrderedPage extends LimitOffset {
  order: 'asc' | 'desc';
}

/**
 * Postgres reads what it skips. A page further back than this is read from the other end, if that is nearer: the first and the last pages of a
 * list cost the same, and one in its middle reads half of the list's index.
 */
const nearOffset = 1_000;

/** How a list is read whose total the database keeps. */
export interface CountedReader<P extends { rows: unknown[] }> {
  total(): Promise<number>;
  /** With the total of the list, of one moment. */
  readCounted(page: OrderedPage): Promise<P & { total: number }>;
  read(page: OrderedPage): Promise<P>;
  nothing: P;
}

/** A page, the highest rows first, with the number of all of them. */
export async function readFromNearerEnd<P extends { rows: unknown[] }>(
  list: CountedReader<P>,
  { limit, offset }: LimitOffset,
): Promise<P & { total: number }> {
  const fromHighest = { order: 'desc', limit, offset } as const;
  if (offset < nearOffset) return list.readCounted(fromHighest);
  const total = await list.total();
  const left = total - offset;
  if (left <= 0) return { ...list.nothing, total };
  if (left > offset) return list.readCounted(fromHighest);
  const page = await list.read({ order: 'asc', limit: Math.min(limit, left), offset: Math.max(left - limit, 0) });
  return { ...page, rows: page.rows.reverse(), total };
}

/**
 * The statement of one page. Limit and offset are in the text: the plan depends on them. With a total, every row has it, and an empty page has
 * one row that is not listed: to send a second statement costs the API more than the database needs for it.
 *
 * The page is found by what the list's index alone has, and its rows are read then. With all columns Postgres would rather read the table from
 * its newest row on, which is as short only for clients that have some of the newest ones, and would read each row that it skips.
 */
function pageStatement<C extends string>(
  { table, condition, orderedBy, select, joins = '' }: ListedTable,
  { where, clientId }: ListedRows<C>,
  { order, limit, offset }: OrderedPage,
  total?: TotalStatement,
): { text: string; values: unknown[] } {
  const values: unknown[] = [...(total?.values ?? [])];
  const named = where.map(([column, value]) => `${column} = $${values.push(value)}`);
  const found = `select ${orderedBy} from ${table} where ${[...named, ...(condition ? [condition] : [])].join(' and ')}
    order by ${orderedBy} ${order} limit ${BigInt(limit)} offset ${BigInt(offset)}`;
  const same = [
    `${orderedBy} = f.${orderedBy}`,
    ...named,
    ...(clientId === undefined ? [] : [`client_id = $${values.push(clientId)}`]),
  ];
  const page = `select p.* from (${found}) f join ${table} p on ${same.map((it) => `p.${it}`).join(' and ')}`;
  const text = total
    ? `select n.total, t.${orderedBy} is not null as is_listed, ${select} from (${total.text}) n left join (${page}) t on true ${joins}
        order by t.${orderedBy} ${order}`
    : `select ${select} from (${page}) t ${joins} order by t.${orderedBy} ${order}`;
  return { text, values };
}

/** The same of a list that is read whole: for what has a row or two at most, or as many as an account has tokens. */
export const toPage = <T>(rows: T[], { limit, offset }: LimitOffset): [rows: T[], total: number] => [
  rows.slice(offset, offset + limit),
  rows.length,
];

/** The rows of a page, and how many the whole list has. */
export async function findPage<C extends string>(
  manager: EntityManager,
  table: ListedTable,
  listed: ListedRows<C>,
  counted: Counted,
  page: LimitOffset,
): Promise<[rows: PageRow[], total: number]> {
  const find = ({ text, values }: ReturnType<typeof pageStatement>) => manager.query<PageRow[]>(text, values);
  const reader: CountedReader<{ rows: PageRow[] }> = {
    total: () => countListed(manager, counted),
    readCounted: async (part) => {
      const found = await find(pageStatement(table, listed, part, toTotal(counted)));
      return { rows: found.filter((row) => row.is_listed === true), total: Number(found[0]?.total ?? 0) };
    },
    read: async (part) => ({ rows: await find(pageStatement(table, listed, part)) }),
    nothing: { rows: [] },
  };
  const { rows, total } = await readFromNearerEnd(reader, page);
  return [rows, total];
}

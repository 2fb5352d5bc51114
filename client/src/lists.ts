import type { Data, Init, Path } from './calls';
import { ClientError } from './errors';

/** Paths of lists. */
export type ListPath = { [P in Path<'get'>]: Data<'get', P> extends Page ? P : never }[Path<'get'>];

export type Item<P extends ListPath> = Data<'get', P> extends { data: (infer T)[] } ? T : never;

interface Page {
  data: unknown[];
  has_more: boolean;
  /** Of lists that are read by cursor. */
  next?: string | null;
}

type Query = Record<string, unknown>;

/** The most that the gateway gives at once. */
const pageSize = 100;
const maxPages = 100_000;

/**
 * The items of a list, the pages being asked for as they are needed: by cursor where the list has one, which shows every item once, else by
 * number, where an item may come twice while others arrive, and be missed while others leave the list.
 * @param query filters and `page_size`; `after` or `page` say where to begin
 */
export async function* readList(read: (query: Query) => Promise<Page>, query: Query): AsyncGenerator<unknown, void, undefined> {
  let position: Query = {};
  const first = Number(query['page'] ?? 1);
  for (let count = 1; count <= maxPages; count += 1) {
    const { data, has_more: more, next } = await read({ page_size: pageSize, ...query, ...position });
    yield* data;
    if (next === undefined ? !more || data.length === 0 : next === null) return;
    if (next !== undefined && next === position['after']) throw new ClientError('the list does not go on: its cursor stays');
    position = next === undefined ? { page: first + count } : { page: undefined, after: next };
  }
  throw new ClientError(`the list has more than ${maxPages} pages`);
}

/** A typed read of a page is one of any list. */
export type ListInit<P extends ListPath> = Init<'get', P>;

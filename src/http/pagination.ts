import type { Page, PageQuery } from './schemas';

export interface Slice {
  limit: number;
  offset: number;
}

export const sliceOf = ({ page, page_size }: PageQuery): Slice => ({ limit: page_size, offset: (page - 1) * page_size });

/** The pagination envelope. */
export function presentPage<T, V>(rows: T[], total: number, { page, page_size }: PageQuery, present: (row: T) => V): Page<V> {
  return { data: rows.map(present), total, has_more: page * page_size < total };
}

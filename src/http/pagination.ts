import type { Page, PageQuery } from './schemas';

export interface LimitOffset {
  limit: number;
  offset: number;
}

export const toLimitOffset = ({ page, page_size }: PageQuery): LimitOffset => ({
  limit: page_size,
  offset: (page - 1) * page_size,
});

/** The pagination envelope. */
export function presentPage<T, V>(rows: T[], total: number, { page, page_size }: PageQuery, present: (row: T) => V): Page<V> {
  return { data: rows.map(present), total, has_more: page * page_size < total };
}

import { toLimitOffset } from '../http/pagination';
import type { PageQuery } from '../http/schemas';
import { invalidParameter } from '../platform/errors';
import { isTotalKept, type TransactionFilter } from './filter';
import type { TransactionPage } from './repository';
import { countedAtMost } from './schema';

/** The part of a list that a query asks for. @throws GatewayError invalid_parameter for a page that can only be reached with `after`. */
export function toListPage(
  filter: TransactionFilter,
  { page, page_size, after }: PageQuery & { after?: string | undefined },
): TransactionPage {
  if (after && page > 1) throw invalidParameter('page', 'must not be given with after');
  const part = toLimitOffset({ page, page_size });
  if (!isTotalKept(filter) && part.offset + part.limit > countedAtMost)
    throw invalidParameter('page', `must be among the first ${countedAtMost} transactions with these filters: go on with after`);
  return { ...part, after };
}

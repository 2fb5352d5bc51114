import type { DataSource, EntityManager } from 'typeorm';
import { AccountEntity } from '../accounts/entity';
import { type CountedReader, readFromNearerEnd } from '../http/list-page';
import { type CountedRows, countListed } from '../http/list-totals';
import type { LimitOffset } from '../http/pagination';
import { isUuid } from '../platform/ids';
import type { NamedRows } from './shown-addresses';
import { isTotalKept, toKeptWhere, type TransactionFilter, toWhere } from './filter';
import { countedAtMost } from './schema';
import {
  countStatement,
  type DetailedRow,
  findCounted,
  findDetailed,
  findListed,
  type ListWhere,
  nothingShown,
  type ListedRow,
  type Shown,
  type Timeline,
} from './shown-rows';

export interface TransactionPage extends LimitOffset {
  /** What the list has after this row; `offset` is 0 then. */
  after?: string | undefined;
}

/** How many rows a list has. */
export interface ListTotal {
  total: number;
  /** false: there are more than `total`. */
  isExact: boolean;
}

export interface ListedPart extends Shown<ListedRow>, ListTotal {
  hasMore: boolean;
}

export interface TransactionDetails {
  tx: DetailedRow;
  timeline: Timeline;
  /** Containing block, also before it has the required depth; null while it is in none. */
  blockNumber: bigint | null;
  /** Newest block that the chain's follower has seen. */
  headBlock: bigint | null;
  /** Its account and wallet. */
  named: NamedRows;
}

const nothingListed: ListedPart = { ...nothingShown, total: 0, isExact: true, hasMore: false };

/** Transactions of one client at a time. */
export class TransactionRepository {
  constructor(private readonly database: DataSource) {}

  get manager(): EntityManager {
    return this.database.manager;
  }

  async findDetails(clientId: string, txId: string): Promise<TransactionDetails | null> {
    if (!isUuid(txId)) return null;
    const { rows, named, timeline, attemptBlock, headBlock } = await findDetailed(this.manager, clientId, txId);
    const [tx] = rows;
    return tx ? { tx, timeline, blockNumber: tx.blockNumber ?? attemptBlock, headBlock, named } : null;
  }

  /** Newest first, with the number of all of them; where the database does not keep it, at most `countedAtMost`. */
  async list(clientId: string, filter: TransactionFilter, page: TransactionPage): Promise<ListedPart> {
    // an id that cannot exist finds nothing, like an unknown one
    if ([filter.walletId, filter.accountId, filter.retryOf].some((id) => id !== undefined && !isUuid(id))) return nothingListed;
    if (isTotalKept(filter)) return this.listByTotal(clientId, filter, page);
    const { limit, offset, after } = page;
    const where = toWhere(clientId, filter);
    // no address of such a form, no row
    if (where.among.some(([, values]) => values.length === 0)) return nothingListed;
    const { rows, named } = await findListed(this.manager, { ...where, after }, { order: 'desc', limit: limit + 1, offset });
    const hasMore = rows.length > limit;
    const isWhole = after === undefined && offset === 0 && !hasMore;
    // one after the other: what few rows match may read many, and a client must not hold two connections for it
    const total = isWhole ? { total: rows.length, isExact: true } : await this.count(where);
    return { rows: rows.slice(0, limit), named, ...total, hasMore };
  }

  private async listByTotal(clientId: string, filter: TransactionFilter, page: TransactionPage): Promise<ListedPart> {
    const where = toKeptWhere(clientId, filter);
    const counted = await this.countedRows(clientId, filter);
    if (!counted) return nothingListed;
    const { limit, offset, after } = page;
    if (after !== undefined) {
      const part = { order: 'desc', limit: limit + 1, offset } as const;
      const { rows, ...rest } = await findCounted(this.manager, { ...where, after }, part, counted);
      return { ...rest, rows: rows.slice(0, limit), isExact: true, hasMore: rows.length > limit };
    }
    const reader: CountedReader<Shown<ListedRow>> = {
      total: () => countListed(this.manager, counted),
      readCounted: (part) => findCounted(this.manager, where, part, counted),
      read: (part) => findListed(this.manager, where, part),
      nothing: nothingShown,
    };
    const part = await readFromNearerEnd(reader, page);
    return { ...part, isExact: true, hasMore: part.total > offset + limit };
  }

  private async count(where: ListWhere): Promise<ListTotal> {
    const { text, values } = countStatement(where, countedAtMost + 1);
    const [row] = await this.manager.query<{ total: string }[]>(text, values);
    const counted = Number(row?.total ?? 0);
    return { total: Math.min(counted, countedAtMost), isExact: counted <= countedAtMost };
  }

  /** Whose total counts what the filter matches; null: nothing matches. */
  private async countedRows(clientId: string, { walletId, accountId, chain }: TransactionFilter): Promise<CountedRows | null> {
    // an account is of one wallet
    if (
      walletId !== undefined &&
      accountId !== undefined &&
      !(await this.manager.existsBy(AccountEntity, { accountId, walletId }))
    )
      return null;
    return { list: 'transactions', clientId, subjectId: accountId ?? walletId ?? clientId, chain };
  }
}

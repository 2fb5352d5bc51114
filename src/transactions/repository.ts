import type { DataSource, EntityManager } from 'typeorm';
import { AccountEntity } from '../accounts/entity';
import { countListed } from '../http/list-totals';
import type { LimitOffset } from '../http/pagination';
import { isUuid } from '../platform/ids';
import type { NamedRows } from './shown-addresses';
import {
  type ColumnValues,
  type DetailedRow,
  findDetailed,
  findListed,
  type ListedRow,
  nothingShown,
  type Shown,
  type Timeline,
} from './shown-rows';

export interface TransactionFilter {
  walletId?: string;
  accountId?: string;
  chain?: string;
}

/** Postgres reads what it skips. A page further back than this is read from the other end, if that is nearer. */
const nearOffset = 1_000;

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

  /** Newest first, and how many there are. */
  async list(
    clientId: string,
    filter: TransactionFilter,
    { limit, offset }: LimitOffset,
  ): Promise<[Shown<ListedRow>, total: number]> {
    // an id that cannot exist finds nothing, like an unknown one
    if ([filter.walletId, filter.accountId].some((id) => id !== undefined && !isUuid(id))) return [nothingShown, 0];
    const where = toColumns(clientId, filter);
    const newest = () => findListed(this.manager, where, { order: 'desc', limit, offset });
    if (offset < nearOffset) return Promise.all([newest(), this.count(clientId, filter)]);
    const total = await this.count(clientId, filter);
    const left = total - offset;
    if (left <= 0) return [nothingShown, total];
    if (left > offset) return [await newest(), total];
    const oldest = { order: 'asc', limit: Math.min(limit, left), offset: Math.max(left - limit, 0) } as const;
    const { rows, named } = await findListed(this.manager, where, oldest);
    return [{ rows: rows.reverse(), named }, total];
  }

  private async count(clientId: string, { walletId, accountId, chain }: TransactionFilter): Promise<number> {
    const { manager } = this.database;
    // an account is of one wallet
    if (walletId !== undefined && accountId !== undefined && !(await manager.existsBy(AccountEntity, { accountId, walletId })))
      return 0;
    return countListed(manager, { list: 'transactions', clientId, subjectId: accountId ?? walletId ?? clientId, chain });
  }
}

const toColumns = (clientId: string, { walletId, accountId, chain }: TransactionFilter): ColumnValues => [
  ['client_id', clientId],
  ...(walletId === undefined ? [] : ([['wallet_id', walletId]] satisfies ColumnValues)),
  ...(accountId === undefined ? [] : ([['account_id', accountId]] satisfies ColumnValues)),
  ...(chain === undefined ? [] : ([['chain', chain]] satisfies ColumnValues)),
];

import type { DataSource, EntityManager } from 'typeorm';
import { AccountEntity } from '../accounts/entity';
import { type CountedRows, countListed } from '../http/list-totals';
import type { LimitOffset } from '../http/pagination';
import { isUuid } from '../platform/ids';
import type { NamedRows } from './shown-addresses';
import {
  type DetailedRow,
  findDetailed,
  findListed,
  type ListedRow,
  nothingShown,
  type Shown,
  type Timeline,
  type TransactionColumns,
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
    const counted = toCounted(clientId, filter);
    const newest = () => findListed(this.manager, where, counted, { order: 'desc', limit, offset });
    // an account is of one wallet, which the total of its list does not say
    if (offset < nearOffset && !isOfBoth(filter)) return newest();
    const total = await this.count(filter, counted);
    const left = total - offset;
    if (left <= 0) return [nothingShown, total];
    if (left > offset) return newest();
    const oldest = { order: 'asc', limit: Math.min(limit, left), offset: Math.max(left - limit, 0) } as const;
    const [{ rows, named }] = await findListed(this.manager, where, counted, oldest);
    return [{ rows: rows.reverse(), named }, total];
  }

  private async count({ walletId, accountId }: TransactionFilter, counted: CountedRows): Promise<number> {
    const { manager } = this.database;
    if (walletId !== undefined && accountId !== undefined && !(await manager.existsBy(AccountEntity, { accountId, walletId })))
      return 0;
    return countListed(manager, counted);
  }
}

const isOfBoth = ({ walletId, accountId }: TransactionFilter): boolean => walletId !== undefined && accountId !== undefined;

const toCounted = (clientId: string, { walletId, accountId, chain }: TransactionFilter): CountedRows => ({
  list: 'transactions',
  clientId,
  subjectId: accountId ?? walletId ?? clientId,
  chain,
});

const toColumns = (clientId: string, { walletId, accountId, chain }: TransactionFilter): TransactionColumns => [
  ['client_id', clientId],
  ...(walletId === undefined ? [] : ([['wallet_id', walletId]] satisfies TransactionColumns)),
  ...(accountId === undefined ? [] : ([['account_id', accountId]] satisfies TransactionColumns)),
  ...(chain === undefined ? [] : ([['chain', chain]] satisfies TransactionColumns)),
];

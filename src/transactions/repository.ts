import type { DataSource, EntityManager } from 'typeorm';
import { AccountEntity } from '../accounts/entity';
import { countListed } from '../http/list-totals';
import type { LimitOffset } from '../http/pagination';
import { isUuid } from '../platform/ids';
import { TransactionEntity } from './entity';

export interface TransactionFilter {
  walletId?: string;
  accountId?: string;
  chain?: string;
}

/** Postgres reads what it skips. A page further back than this is read from the other end, if that is nearer. */
const nearOffset = 1_000;

/** Its states, oldest first. */
export type Timeline = { status: string; at: Date }[];

export interface TransactionDetails {
  tx: TransactionEntity;
  timeline: Timeline;
  /** Containing block, also before it has the required depth; null while it is in none. */
  blockNumber: bigint | null;
  /** Newest block that the chain's follower has seen. */
  headBlock: bigint | null;
}

export const findTimeline = (manager: EntityManager, txId: string): Promise<Timeline> =>
  manager.query<Timeline>('select status, at from transaction_events where tx_id = $1 order by seq', [txId]);

/** Transactions of one client at a time. */
export class TransactionRepository {
  constructor(private readonly database: DataSource) {}

  get manager(): EntityManager {
    return this.database.manager;
  }

  find(clientId: string, txId: string): Promise<TransactionEntity | null> {
    return isUuid(txId) ? this.database.manager.findOneBy(TransactionEntity, { clientId, txId }) : Promise.resolve(null);
  }

  async findDetails(clientId: string, txId: string): Promise<TransactionDetails | null> {
    const tx = await this.find(clientId, txId);
    if (!tx) return null;
    const [timeline, [attempt], [cursor]] = await Promise.all([
      findTimeline(this.database.manager, tx.txId),
      this.database.query<{ block_number: string }[]>(
        `select block_number from transfer_attempts where tx_id = $1 and block_number is not null`,
        [tx.txId],
      ),
      this.database.query<{ head_block: string }[]>(`select head_block from chain_cursors where chain = $1`, [tx.chain]),
    ]);
    const blockNumber = tx.blockNumber ?? (attempt ? BigInt(attempt.block_number) : null);
    return { tx, timeline, blockNumber, headBlock: cursor ? BigInt(cursor.head_block) : null };
  }

  /** Newest first, and how many there are. */
  async list(
    clientId: string,
    filter: TransactionFilter,
    { limit, offset }: LimitOffset,
  ): Promise<[TransactionEntity[], number]> {
    // an id that cannot exist finds nothing, like an unknown one
    if ([filter.walletId, filter.accountId].some((id) => id !== undefined && !isUuid(id))) return [[], 0];
    const newest = () => this.page(clientId, filter, { order: 'DESC', limit, offset });
    if (offset < nearOffset) return Promise.all([newest(), this.count(clientId, filter)]);
    const total = await this.count(clientId, filter);
    const left = total - offset;
    if (left <= 0) return [[], total];
    if (left > offset) return [await newest(), total];
    const oldest = { order: 'ASC', limit: Math.min(limit, left), offset: Math.max(left - limit, 0) } as const;
    return [(await this.page(clientId, filter, oldest)).reverse(), total];
  }

  private page(
    clientId: string,
    { walletId, accountId, chain }: TransactionFilter,
    { order, limit, offset }: LimitOffset & { order: 'ASC' | 'DESC' },
  ): Promise<TransactionEntity[]> {
    return this.database.manager.find(TransactionEntity, {
      where: {
        clientId,
        ...(walletId !== undefined && { walletId }),
        ...(accountId !== undefined && { accountId }),
        ...(chain !== undefined && { chain }),
      },
      order: { txId: order },
      take: limit,
      skip: offset,
    });
  }

  private async count(clientId: string, { walletId, accountId, chain }: TransactionFilter): Promise<number> {
    const { manager } = this.database;
    // an account is of one wallet
    if (walletId !== undefined && accountId !== undefined && !(await manager.existsBy(AccountEntity, { accountId, walletId })))
      return 0;
    return countListed(manager, { list: 'transactions', clientId, subjectId: accountId ?? walletId ?? clientId, chain });
  }
}

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

  async list(
    clientId: string,
    filter: TransactionFilter,
    { limit, offset }: LimitOffset,
  ): Promise<[TransactionEntity[], number]> {
    const { walletId, accountId, chain } = filter;
    // an id that cannot exist finds nothing, like an unknown one
    if ([walletId, accountId].some((id) => id !== undefined && !isUuid(id))) return [[], 0];
    const { manager } = this.database;
    const rows = manager.find(TransactionEntity, {
      where: {
        clientId,
        ...(walletId !== undefined && { walletId }),
        ...(accountId !== undefined && { accountId }),
        ...(chain !== undefined && { chain }),
      },
      order: { txId: 'DESC' },
      take: limit,
      skip: offset,
    });
    return Promise.all([rows, this.count(clientId, filter)]);
  }

  private async count(clientId: string, { walletId, accountId, chain }: TransactionFilter): Promise<number> {
    const { manager } = this.database;
    // an account is of one wallet
    if (walletId !== undefined && accountId !== undefined && !(await manager.existsBy(AccountEntity, { accountId, walletId })))
      return 0;
    return countListed(manager, { list: 'transactions', clientId, subjectId: accountId ?? walletId ?? clientId, chain });
  }
}

import type { LiveStatus } from '../messages/progress';
import type { LimitOffset } from '../http/pagination';
import { notFound } from '../platform/errors';
import type { TransactionEntity } from './entity';
import type { TransactionDetails, TransactionFilter, TransactionRepository } from './repository';

/** Says what is being done for a transaction just now; null when that is not known at once. Never throws. */
export interface LiveStatusSource {
  live(txId: string): Promise<LiveStatus | null>;
}

export interface LiveTransaction {
  details: TransactionDetails;
  live: LiveStatus | null;
}

export class TransactionService {
  constructor(
    private readonly transactions: TransactionRepository,
    private readonly liveStatus: LiveStatusSource,
  ) {}

  list(clientId: string, filter: TransactionFilter, slice: LimitOffset): Promise<[TransactionEntity[], number]> {
    return this.transactions.list(clientId, filter, slice);
  }

  /** A transaction and, while it is under way, what its workflow says; a read never fails for want of the latter. */
  async get(clientId: string, txId: string): Promise<LiveTransaction> {
    const details = await this.transactions.findDetails(clientId, txId);
    if (!details) throw notFound('transaction');
    const { tx } = details;
    const running = tx.isHeld && tx.endedAt === null;
    return { details, live: running ? await this.liveStatus.live(tx.txId) : null };
  }
}

import type { LiveStatus } from '../messages/progress';
import type { LimitOffset } from '../http/pagination';
import { notFound } from '../platform/errors';
import type { TransactionEntity } from './entity';
import type { TransactionDetails, TransactionFilter, TransactionRepository } from './repository';

/** Returns the current step of a transfer; null when it is not available immediately. Never throws. */
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

  list(clientId: string, filter: TransactionFilter, page: LimitOffset): Promise<[TransactionEntity[], number]> {
    return this.transactions.list(clientId, filter, page);
  }

  /** A transaction with, while it is running, the state of its workflow; reading never fails because of the latter. */
  async get(clientId: string, txId: string): Promise<LiveTransaction> {
    const details = await this.transactions.findDetails(clientId, txId);
    if (!details) throw notFound('transaction');
    const { tx } = details;
    const running = tx.isHeld && tx.endedAt === null;
    return { details, live: running ? await this.liveStatus.live(tx.txId) : null };
  }
}

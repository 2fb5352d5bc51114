import type { OwnAddresses } from '../accounts/own-addresses';
import type { LiveStatus } from '../messages/progress';
import type { LimitOffset } from '../http/pagination';
import { notFound } from '../platform/errors';
import type { TransactionEntity } from './entity';
import type { TransactionDetails, TransactionFilter, TransactionRepository } from './repository';
import { withOwnAddress } from './shown-addresses';

/** Returns the current step of a transfer; null when it is not available immediately. Never throws. */
export interface LiveStatusSource {
  live(txId: string): Promise<LiveStatus | null>;
}

export interface ListedTransaction {
  tx: TransactionEntity;
  /** The signing nodes attest the address of its account. */
  isOwnAddress: boolean;
}

export interface LiveTransaction extends Omit<ListedTransaction, 'tx'> {
  details: TransactionDetails;
  live: LiveStatus | null;
}

export class TransactionService {
  constructor(
    private readonly transactions: TransactionRepository,
    private readonly liveStatus: LiveStatusSource,
    private readonly addresses: OwnAddresses,
  ) {}

  async list(clientId: string, filter: TransactionFilter, page: LimitOffset): Promise<[ListedTransaction[], number]> {
    const [rows, total] = await this.transactions.list(clientId, filter, page);
    const own = await withOwnAddress(this.transactions.manager, this.addresses, rows);
    return [rows.map((tx) => ({ tx, isOwnAddress: own.has(tx.txId) })), total];
  }

  /** A transaction with, while it is running, the state of its workflow; reading never fails because of the latter. */
  async get(clientId: string, txId: string): Promise<LiveTransaction> {
    const details = await this.transactions.findDetails(clientId, txId);
    if (!details) throw notFound('transaction');
    const { tx } = details;
    const running = tx.isSigned && tx.endedAt === null;
    const [own, live] = await Promise.all([
      withOwnAddress(this.transactions.manager, this.addresses, [tx]),
      running ? this.liveStatus.live(tx.txId) : null,
    ]);
    return { details, isOwnAddress: own.has(tx.txId), live };
  }
}

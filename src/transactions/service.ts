import type { OwnAddresses } from '../accounts/own-addresses';
import type { LiveStatus } from '../messages/progress';
import type { LimitOffset } from '../http/pagination';
import { notFound } from '../platform/errors';
import type { TransactionEntity } from './entity';
import type { TransactionDetails, TransactionFilter, TransactionRepository } from './repository';
import type { LiveStatusCache } from './live-status';
import { withOwnAddress } from './shown-addresses';

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
    private readonly liveStatus: LiveStatusCache,
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
    const [own, live] = await Promise.all([
      withOwnAddress(this.transactions.manager, this.addresses, [tx]),
      this.liveStatus.get(tx),
    ]);
    return { details, isOwnAddress: own.has(tx.txId), live };
  }
}

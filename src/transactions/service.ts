import type { OwnAddresses } from '../accounts/own-addresses';
import type { LiveStatus } from '../messages/progress';
import { notFound } from '../platform/errors';
import type { TransactionFilter } from './filter';
import type { TransactionDetails, TransactionPage, TransactionRepository } from './repository';
import type { LiveStatusCache } from './live-status';
import { withOwnAddressAmong } from './shown-addresses';
import type { ListedRow } from './shown-rows';

export interface ListedTransaction {
  tx: ListedRow;
  /** The signing nodes attest the address of its account. */
  isOwnAddress: boolean;
}

export interface ListedTransactions {
  rows: ListedTransaction[];
  /** Of the list, not of the page. */
  total: number;
  /** false: there are more than `total`. */
  isExact: boolean;
  hasMore: boolean;
  /** The last one of the page; null where the list ends. */
  next: string | null;
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

  async list(clientId: string, filter: TransactionFilter, page: TransactionPage): Promise<ListedTransactions> {
    const { rows, named, total, isExact, hasMore } = await this.transactions.list(clientId, filter, page);
    const own = await withOwnAddressAmong(this.transactions.manager, this.addresses, rows, named);
    const shown = rows.map((tx) => ({ tx, isOwnAddress: own.has(tx.txId) }));
    return { rows: shown, total, isExact, hasMore, next: (hasMore && rows.at(-1)?.txId) || null };
  }

  /** A transaction with, while it is running, the state of its workflow; reading never fails because of the latter. */
  async get(clientId: string, txId: string): Promise<LiveTransaction> {
    const details = await this.transactions.findDetails(clientId, txId);
    if (!details) throw notFound('transaction');
    const { tx, named } = details;
    const [own, live] = await Promise.all([
      withOwnAddressAmong(this.transactions.manager, this.addresses, [tx], named),
      this.liveStatus.get(tx),
    ]);
    return { details, isOwnAddress: own.has(tx.txId), live };
  }
}

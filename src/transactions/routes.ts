import { getCaller } from '../http/context';
import { presentPage, toLimitOffset } from '../http/pagination';
import { resourceId, withoutId } from '../http/resource-id';
import type { Route, DocumentedMiddleware } from '../http/route';
import { query, getQuery } from '../http/validate';
import { presentListedTransaction, presentTransactionDetails } from './presenter';
import { listTransactions, transactionDetailView, transactionPage } from './schema';
import type { TransactionService } from './service';

const tag = 'Transactions';

export interface TransactionRoutes {
  transactions: TransactionService;
  authenticate: DocumentedMiddleware;
}

export function transactionRoutes({ transactions, authenticate }: TransactionRoutes): Route[] {
  return [
    {
      method: 'get',
      path: '/transactions',
      id: 'listTransactions',
      tag,
      summary: 'List transactions, newest first',
      middleware: [authenticate, query(listTransactions)],
      answer: { status: 200, description: 'One page', schema: transactionPage },
      fails: [],
      handle: async (ctx) => {
        const { wallet_id: walletId, account_id: accountId, chain, ...page } = getQuery(ctx, listTransactions);
        const filter = {
          ...(walletId !== undefined && { walletId }),
          ...(accountId !== undefined && { accountId }),
          ...(chain !== undefined && { chain }),
        };
        const [rows, total] = await transactions.list(getCaller(ctx).clientId, filter, toLimitOffset(page));
        ctx.body = presentPage(rows, total, page, presentListedTransaction);
      },
    },
    {
      method: 'get',
      path: '/transactions/:tx_id',
      id: 'getTransaction',
      tag,
      summary: 'Read a transaction with its timeline and, while it is in progress, its live state',
      middleware: [authenticate],
      answer: { status: 200, description: 'The transaction', schema: transactionDetailView },
      fails: ['not_found'],
      handle: async (ctx) => {
        ctx.body = presentTransactionDetails(await transactions.get(getCaller(ctx).clientId, resourceId(ctx, 'tx_id')));
      },
    },
    withoutId('/transactions/', tag, authenticate),
  ];
}

import { callerOf } from '../http/context';
import { presentPage, sliceOf } from '../http/pagination';
import { resourceId, withoutId } from '../http/resource-id';
import type { Route, Step } from '../http/steps';
import { noBody, query, queryOf } from '../http/validate';
import { presentTransaction, presentTransactionDetails } from './presenter';
import { listTransactions, transactionDetailView, transactionPage } from './schema';
import type { TransactionService } from './service';

const tag = 'Transactions';

export interface TransactionRoutes {
  transactions: TransactionService;
  authenticate: Step;
}

export function transactionRoutes({ transactions, authenticate }: TransactionRoutes): Route[] {
  return [
    {
      method: 'get',
      path: '/transactions',
      id: 'listTransactions',
      tag,
      summary: 'List transactions, newest first',
      steps: [authenticate, query(listTransactions)],
      answer: { status: 200, description: 'One page', schema: transactionPage },
      fails: [],
      handle: async (ctx) => {
        const { wallet_id: walletId, account_id: accountId, chain, ...page } = queryOf(ctx, listTransactions);
        const filter = {
          ...(walletId !== undefined && { walletId }),
          ...(accountId !== undefined && { accountId }),
          ...(chain !== undefined && { chain }),
        };
        const [rows, total] = await transactions.list(callerOf(ctx).clientId, filter, sliceOf(page));
        ctx.body = presentPage(rows, total, page, presentTransaction);
      },
    },
    {
      method: 'get',
      path: '/transactions/:tx_id',
      id: 'getTransaction',
      tag,
      summary: 'Read a transaction with its timeline and, while it is under way, its live state',
      steps: [authenticate],
      answer: { status: 200, description: 'The transaction', schema: transactionDetailView },
      fails: ['not_found'],
      handle: async (ctx) => {
        const { details, live } = await transactions.get(callerOf(ctx).clientId, resourceId(ctx, 'tx_id'));
        ctx.body = presentTransactionDetails(details, live);
      },
    },
    {
      method: 'post',
      path: '/transactions/:tx_id/cancel',
      id: 'cancelTransaction',
      tag,
      summary: 'Cancel a transfer before its signing has begun',
      steps: [authenticate, noBody],
      answer: { status: 200, description: 'The cancelled transaction', schema: transactionDetailView },
      fails: ['not_found', 'not_cancellable', 'unavailable', 'outcome_unknown'],
      handle: async (ctx) => {
        const { details, live } = await transactions.cancel(callerOf(ctx).clientId, resourceId(ctx, 'tx_id'));
        ctx.body = presentTransactionDetails(details, live);
      },
    },
    withoutId('/transactions/', tag, authenticate),
  ];
}

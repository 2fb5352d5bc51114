import type { GetFamily } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import { getCaller } from '../http/context';
import { resourceId, withoutId } from '../http/resource-id';
import type { Route, DocumentedMiddleware } from '../http/route';
import { query, getQuery } from '../http/validate';
import { toFilter } from './filter';
import { toListPage } from './list-page';
import { presentTransactionDetails, presentTransactions } from './presenter';
import { listTransactions, transactionDetailView, transactionPage } from './schema';
import type { TransactionService } from './service';

const tag = 'Transactions';

export interface TransactionRoutes {
  transactions: TransactionService;
  registry: ChainRegistry;
  getFamily: GetFamily;
  authenticate: DocumentedMiddleware;
}

export function transactionRoutes({ transactions, authenticate, ...chains }: TransactionRoutes): Route[] {
  return [
    {
      method: 'get',
      path: '/transactions',
      id: 'listTransactions',
      tag,
      summary: 'List transactions, newest first',
      description:
        'Several filters together: transactions that have all of it. By cursor (`next`, then `after`) a list is read without repeats and without gaps, also while transactions arrive.',
      middleware: [authenticate, query(listTransactions)],
      answer: { status: 200, description: 'One page', schema: transactionPage },
      fails: [],
      handle: async (ctx) => {
        const { page, page_size, after, ...filters } = getQuery(ctx, listTransactions);
        const filter = toFilter(chains, filters);
        const part = toListPage(filter, { page, page_size, after });
        ctx.body = presentTransactions(await transactions.list(getCaller(ctx).clientId, filter, part));
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

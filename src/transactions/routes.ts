import { getCaller } from '../http/context';
import { presentPage, toLimitOffset } from '../http/pagination';
import { resourceId, withoutId } from '../http/resource-id';
import type { Route, DocumentedMiddleware } from '../http/route';
import { body, noBody, query, getQuery } from '../http/validate';
import { mfaFailures, toMfaRequest } from '../mfa/request';
import type { Approvals } from '../transfers/approvals';
import { presentTransaction, presentTransactionDetails } from './presenter';
import { approveTransaction, listTransactions, transactionDetailView, transactionPage } from './schema';
import type { TransactionService } from './service';

const tag = 'Transactions';

export interface TransactionRoutes {
  transactions: TransactionService;
  approvals: Approvals;
  authenticate: DocumentedMiddleware;
}

export function transactionRoutes({ transactions, approvals, authenticate }: TransactionRoutes): Route[] {
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
        ctx.body = presentPage(rows, total, page, presentTransaction);
      },
    },
    {
      method: 'get',
      path: '/transactions/:tx_id',
      id: 'getTransaction',
      tag,
      summary: 'Read a transaction with its timeline and, while it is under way, its live state',
      middleware: [authenticate],
      answer: { status: 200, description: 'The transaction', schema: transactionDetailView },
      fails: ['not_found'],
      handle: async (ctx) => {
        const { details, live } = await transactions.get(getCaller(ctx).clientId, resourceId(ctx, 'tx_id'));
        ctx.body = presentTransactionDetails(details, live);
      },
    },
    {
      method: 'post',
      path: '/transactions/:tx_id/cancel',
      id: 'cancelTransaction',
      tag,
      summary: 'Cancel a transfer before its signing has begun',
      middleware: [authenticate, noBody],
      answer: { status: 200, description: 'The cancelled transaction', schema: transactionDetailView },
      fails: ['not_found', 'not_cancellable', 'unavailable', 'outcome_unknown'],
      handle: async (ctx) => {
        const { clientId, userId } = getCaller(ctx);
        const by = { userId, requestId: ctx.state.requestId };
        const { details, live } = await transactions.cancel(clientId, resourceId(ctx, 'tx_id'), by);
        ctx.body = presentTransactionDetails(details, live);
      },
    },
    {
      method: 'post',
      path: '/transactions/:tx_id/approve',
      id: 'approveTransaction',
      tag,
      summary: 'Approve a transfer that is AWAITING_APPROVAL',
      description:
        'With the whitelist policy `approve` a transfer to an address that is not on the whitelist waits for this, at most until `approval.expires_at`; then it is REJECTED. Any user of the client with a second factor may approve.',
      middleware: [authenticate, body(approveTransaction)],
      answer: { status: 200, description: 'The approved transaction', schema: transactionDetailView },
      fails: [...mfaFailures, 'not_found', 'not_awaiting_approval'],
      handle: async (ctx) => {
        const txId = resourceId(ctx, 'tx_id');
        await approvals.approve(toMfaRequest(ctx), txId);
        const { details, live } = await transactions.get(getCaller(ctx).clientId, txId);
        ctx.body = presentTransactionDetails(details, live);
      },
    },
    withoutId('/transactions/', tag, authenticate),
  ];
}

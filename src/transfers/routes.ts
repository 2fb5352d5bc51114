import { type GatewayContext, getCaller, getIdempotencyContext } from '../http/context';
import { resourceId } from '../http/resource-id';
import { locate } from '../http/router';
import type { Route, DocumentedMiddleware } from '../http/route';
import { body, getBody, noBody } from '../http/validate';
import { mfaFailures, toMfaRequest } from '../mfa/request';
import { readCommitted } from '../platform/database';
import { presentTransactionDetails } from '../transactions/presenter';
import { transactionDetailView } from '../transactions/schema';
import type { TransactionService } from '../transactions/service';
import { acceptanceFailures } from './accept/accepted-kind';
import type { Approvals } from './screen/approvals';
import { presentEstimate, toAnswer } from './presenter';
import { approveTransaction, createTransfer, transferEstimateView, transferView } from './schema';
import type { TransferService } from './service';

export interface TransferRoutes {
  transfers: TransferService;
  transactions: TransactionService;
  approvals: Approvals;
  authenticate: DocumentedMiddleware;
  idempotent: DocumentedMiddleware;
}

export function transferRoutes(resources: TransferRoutes): Route[] {
  const { transfers, transactions, approvals, authenticate, idempotent } = resources;
  /** After what the request has committed. */
  const show = async (ctx: GatewayContext, txId: string) => {
    const { clientId } = getCaller(ctx);
    ctx.body = presentTransactionDetails(await readCommitted(() => transactions.get(clientId, txId), { tx_id: txId }));
  };
  return [
    {
      method: 'post',
      path: '/transfer',
      id: 'createTransfer',
      tag: 'Transfers',
      summary: 'Create a transfer: lock the amount and start signing',
      description:
        'Send an Idempotency-Key: a retry with the same key never pays twice, without a time limit. The network fee is paid by the source account in the native coin and locked in addition to the amount.',
      middleware: [authenticate, body(createTransfer), idempotent],
      answer: {
        status: 202,
        description: 'The amount is locked and the transfer is in progress',
        schema: transferView,
        location: true,
      },
      fails: [...acceptanceFailures, 'external_id_in_use', 'chain_unavailable'],
      handle: async (ctx) => {
        const acceptance = await transfers.accept(
          getCaller(ctx),
          getIdempotencyContext(ctx),
          ctx.state.requestId,
          getBody(ctx, createTransfer),
        );
        if (acceptance.replayed) ctx.set('Idempotency-Replayed', 'true');
        const answer = toAnswer(acceptance);
        locate(ctx, answer.path);
        ctx.body = answer.body;
      },
    },
    {
      method: 'post',
      path: '/transfer/estimate',
      id: 'estimateTransfer',
      tag: 'Transfers',
      summary: 'Say what a transfer would take, and whether it would be accepted',
      description:
        'The body of POST /transfer. Nothing is stored, locked or started, and another transfer or a change of fees can make the answer out of date at once. What has no asset to transfer from is refused as POST /transfer refuses it; any other refusal is `refusal` of the answer.',
      middleware: [authenticate, body(createTransfer)],
      answer: { status: 200, description: 'What the transfer would take now', schema: transferEstimateView },
      fails: ['invalid_address', 'not_found', 'unavailable', 'reconcile_required', 'chain_unavailable'],
      handle: async (ctx) => {
        const estimate = await transfers.estimate(getCaller(ctx), ctx.state.requestId, getBody(ctx, createTransfer));
        ctx.body = presentEstimate(estimate);
      },
    },
    {
      method: 'post',
      path: '/transactions/:tx_id/cancel',
      id: 'cancelTransaction',
      tag: 'Transactions',
      summary: 'Cancel a transfer before its signing has begun',
      middleware: [authenticate, noBody],
      answer: { status: 200, description: 'The cancelled transaction', schema: transactionDetailView },
      fails: ['not_found', 'not_cancellable', 'unavailable', 'reconcile_required', 'outcome_unknown'],
      handle: async (ctx) => {
        const { clientId, userId } = getCaller(ctx);
        const txId = resourceId(ctx, 'tx_id');
        await transfers.cancel(clientId, txId, { userId, requestId: ctx.state.requestId });
        await show(ctx, txId);
      },
    },
    {
      method: 'post',
      path: '/transactions/:tx_id/approve',
      id: 'approveTransaction',
      tag: 'Transactions',
      summary: 'Approve a transfer that is AWAITING_APPROVAL',
      description:
        'With the whitelist policy `approve` a transfer to an address that is not on the whitelist waits for this, at most until `approval.expires_at`; then it is REJECTED. Any user of the client with a second factor may approve, but the user who requested the transfer only if no other user could, or if the policy of the client allows it.',
      middleware: [authenticate, body(approveTransaction)],
      answer: { status: 200, description: 'The approved transaction', schema: transactionDetailView },
      fails: [...mfaFailures, 'not_found', 'not_awaiting_approval', 'approver_is_requester'],
      handle: async (ctx) => {
        const txId = resourceId(ctx, 'tx_id');
        await approvals.approve(toMfaRequest(ctx), txId);
        await show(ctx, txId);
      },
    },
  ];
}

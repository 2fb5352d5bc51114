import { getCaller, getIdempotencyContext } from '../http/context';
import { locate } from '../http/router';
import type { Route, DocumentedMiddleware } from '../http/route';
import { body, getBody } from '../http/validate';
import { presentAccepted } from './presenter';
import { createTransfer, transferView } from './schema';
import type { TransferService } from './service';

export interface TransferRoutes {
  transfers: TransferService;
  authenticate: DocumentedMiddleware;
  idempotent: DocumentedMiddleware;
}

export function transferRoutes({ transfers, authenticate, idempotent }: TransferRoutes): Route[] {
  return [
    {
      method: 'post',
      path: '/transfer',
      id: 'createTransfer',
      tag: 'Transfers',
      summary: 'Create a transfer: lock the amount and start signing',
      description:
        'Send an Idempotency-Key: with it a retry after any time-out, crash or day cannot pay twice. The network fee is paid by the source account in the native coin and locked beside the amount.',
      middleware: [authenticate, body(createTransfer), idempotent],
      answer: {
        status: 202,
        description: 'The amount is locked and the transfer is under way',
        schema: transferView,
        location: true,
      },
      fails: [
        'insufficient_balance',
        'invalid_address',
        'address_blacklisted',
        'address_not_whitelisted',
        'wallet_not_active',
        'account_not_active',
        'business_error',
        'not_found',
        'unavailable',
        'outcome_unknown',
      ],
      handle: async (ctx) => {
        const { accepted, replayed } = await transfers.submit(
          getCaller(ctx),
          getIdempotencyContext(ctx),
          ctx.state.requestId,
          getBody(ctx, createTransfer),
        );
        if (replayed) ctx.set('Idempotency-Replayed', 'true');
        locate(ctx, `/transactions/${accepted.txId}`);
        ctx.body = presentAccepted(accepted);
      },
    },
  ];
}

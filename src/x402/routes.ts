import { getCaller } from '../http/context';
import type { DocumentedMiddleware, Route } from '../http/route';
import { getOpenBody, openBody } from '../http/validate';
import { applyPreference, preferHeader } from './prefer';
import { presentSettled, presentSupported, presentVerdict } from './presenter';
import { paymentBodySchema, settledView, supportedView, verdictView } from './schema';
import type { X402Service } from './service';
import type { SettlementService } from './settlement/service';

const tag = 'x402';

export interface X402Routes {
  x402: X402Service;
  settlements: SettlementService;
  authenticate: DocumentedMiddleware;
}

export function x402Routes({ x402, settlements, authenticate }: X402Routes): Route[] {
  return [
    {
      method: 'post',
      path: '/x402/verify',
      id: 'verifyPayment',
      tag,
      summary: 'Check a signed payment',
      description:
        'Whether the payment would be settled now. Any JSON of at most 2,000 values in 32 levels is answered 200: what is wrong with it is the reason. Nothing is stored, and nothing is sent to the chain.',
      middleware: [authenticate, openBody(paymentBodySchema)],
      answer: { status: 200, description: 'The verdict', schema: verdictView },
      fails: ['unavailable'],
      handle: async (ctx) => {
        ctx.body = presentVerdict(await x402.verify(getCaller(ctx).clientId, getOpenBody(ctx), ctx.state.log));
      },
    },
    {
      method: 'post',
      path: '/x402/settle',
      id: 'settlePayment',
      tag,
      summary: 'Execute a signed payment',
      description:
        'Verifies the payment and executes it on the chain; answered once a block contains it. Any JSON of at most 2,000 values in 32 levels is answered 200: what is wrong with it is the reason. A payment is settled once: the same request gets the same answer again, another one `duplicate_settlement`. `settlement_pending` is not an end: repeat the request.',
      middleware: [authenticate, preferHeader, openBody(paymentBodySchema)],
      answer: { status: 200, description: 'The outcome', schema: settledView },
      fails: ['unavailable', 'reconcile_required', 'outcome_unknown'],
      handle: async (ctx) => {
        const { clientId, userId } = getCaller(ctx);
        const askedBy = { clientId, userId, requestId: ctx.state.requestId };
        ctx.body = presentSettled(await settlements.settle(askedBy, getOpenBody(ctx), applyPreference(ctx), ctx.state.log));
      },
    },
    {
      method: 'get',
      path: '/x402/supported',
      id: 'listSupportedPayments',
      tag,
      summary: 'What can be settled for the calling client',
      middleware: [authenticate],
      answer: { status: 200, description: 'Kinds of payments', schema: supportedView },
      fails: ['unavailable'],
      handle: async (ctx) => {
        ctx.body = presentSupported(await x402.supported(getCaller(ctx).clientId));
      },
    },
  ];
}

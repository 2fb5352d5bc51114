import { getCaller } from '../http/context';
import type { DocumentedMiddleware, Route } from '../http/route';
import { getOpenBody, openBody } from '../http/validate';
import { presentSupported, presentVerdict } from './presenter';
import { paymentBodySchema, supportedView, verdictView } from './schema';
import type { X402Service } from './service';

const tag = 'x402';

export interface X402Routes {
  x402: X402Service;
  authenticate: DocumentedMiddleware;
}

export function x402Routes({ x402, authenticate }: X402Routes): Route[] {
  return [
    {
      method: 'post',
      path: '/x402/verify',
      id: 'verifyPayment',
      tag,
      summary: 'Check a signed payment',
      description:
        'Whether the payment would be settled now. Any JSON is answered 200: what is wrong with it is the reason. Nothing is stored, and nothing is sent to the chain.',
      middleware: [authenticate, openBody(paymentBodySchema)],
      answer: { status: 200, description: 'The verdict', schema: verdictView },
      fails: ['unavailable'],
      handle: async (ctx) => {
        ctx.body = presentVerdict(await x402.verify(getCaller(ctx).clientId, getOpenBody(ctx), ctx.state.log));
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

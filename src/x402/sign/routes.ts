import type { GetFamily } from '../../chains/family';
import type { ChainRegistry } from '../../chains/registry';
import { getCaller, getIdempotencyContext } from '../../http/context';
import { resourceId } from '../../http/resource-id';
import { locate } from '../../http/router';
import type { DocumentedMiddleware, Route } from '../../http/route';
import { body, getBody } from '../../http/validate';
import { acceptanceFailures } from '../../transfers/accept/accepted-kind';
import { applyPreference, preferHeader } from '../prefer';
import { presentPayment } from './presenter';
import { signedPaymentView, signPayment } from './schema';
import type { SignService } from './service';

const tag = 'x402';

export interface SignRoutes {
  payments: SignService;
  registry: ChainRegistry;
  getFamily: GetFamily;
  authenticate: DocumentedMiddleware;
  /** Stored answers contain signatures: sealed. */
  idempotent: DocumentedMiddleware;
}

export function signRoutes({ payments, registry, getFamily, authenticate, idempotent }: SignRoutes): Route[] {
  return [
    {
      method: 'post',
      path: '/x402/sign',
      id: 'signPayment',
      tag,
      summary: 'Authorise a payment from one of your accounts',
      description:
        'Signs what a resource server asks for in its response 402, by EIP-3009 or Permit2, on Solana by a transaction of which somebody else pays the fee. The same limits, lists and approvals hold as for a transfer. The amount is locked until the payment is carried out, or can be no more. Send an Idempotency-Key: a retry with the same key never pays twice.',
      middleware: [authenticate, preferHeader, body(signPayment), idempotent],
      answer: {
        status: 202,
        description: 'The amount is locked; `paymentPayload` is null if it is not signed yet',
        schema: signedPaymentView,
        location: true,
      },
      fails: [...acceptanceFailures],
      handle: async (ctx) => {
        const { payment, replayed } = await payments.sign(
          getCaller(ctx),
          getIdempotencyContext(ctx),
          ctx.state.requestId,
          getBody(ctx, signPayment),
          applyPreference(ctx),
        );
        if (replayed) ctx.set('Idempotency-Replayed', 'true');
        locate(ctx, `/x402/sign/${payment.txId}`);
        ctx.body = presentPayment({ registry, getFamily }, payment);
      },
    },
    {
      method: 'get',
      path: '/x402/sign/:tx_id',
      id: 'getSignedPayment',
      tag,
      summary: 'A payment that you have authorised, with its signature',
      middleware: [authenticate],
      answer: { status: 200, description: 'The payment', schema: signedPaymentView },
      fails: ['not_found'],
      handle: async (ctx) => {
        const payment = await payments.get(getCaller(ctx).clientId, resourceId(ctx, 'tx_id'));
        ctx.body = presentPayment({ registry, getFamily }, payment);
      },
    },
  ];
}

import type { RouteConfig } from '@x402/core/server';
import { declareEip2612GasSponsoringExtension } from '@x402/extensions';
import type { Address } from 'viem';

/** A route that is sold, with the name that it has in the end-to-end tests of the official packages. */
export interface SoldRoute {
  path: string;
  scheme: 'exact' | 'upto';
  method: 'eip3009' | 'permit2';
  flow?: 'upfront';
  /** What a payer may sign who has given Permit2 no allowance. */
  sponsoring?: () => Record<string, unknown>;
  /** What the seller asks of the facilitator, in this order. */
  asked: readonly ('verify' | 'settle')[];
}

const both = ['verify', 'settle'] as const;
const permit = { sponsoring: declareEip2612GasSponsoringExtension };

export const soldRoutes: SoldRoute[] = [
  { path: '/exact/evm/eip3009', scheme: 'exact', method: 'eip3009', asked: both },
  { path: '/exact/evm/eip3009/upfront', scheme: 'exact', method: 'eip3009', flow: 'upfront', asked: ['settle'] },
  { path: '/exact/evm/permit2', scheme: 'exact', method: 'permit2', asked: both },
  { path: '/exact/evm/permit2/upfront', scheme: 'exact', method: 'permit2', flow: 'upfront', asked: ['settle'] },
  { path: '/exact/evm/permit2-eip2612GasSponsoring', scheme: 'exact', method: 'permit2', asked: both, ...permit },
  { path: '/upto/evm/permit2', scheme: 'upto', method: 'permit2', asked: both },
  { path: '/upto/evm/permit2-eip2612GasSponsoring', scheme: 'upto', method: 'permit2', asked: both, ...permit },
];

/** What upto routes take of the 2000 that payers authorise, where the url does not say. */
export const usualAmount = '1000';

/** The routes as middlewares are configured with them: 1000 atomic units, or up to 2000. */
export function toRoutes(payTo: Address, asset: Address): Record<string, RouteConfig> {
  return Object.fromEntries(
    soldRoutes.map(({ path, scheme, method, flow, sponsoring }) => [
      `GET ${path}`,
      {
        accepts: {
          ...{ scheme, payTo, network: 'eip155:8453' },
          price: { amount: scheme === 'upto' ? '2000' : '1000', asset, extra: { name: 'USD Coin', version: '2' } },
          extra: { ...(method === 'permit2' && { assetTransferMethod: method }), ...(flow && { paymentFlow: flow }) },
        },
        ...(sponsoring && { extensions: sponsoring() }),
      },
    ]),
  );
}

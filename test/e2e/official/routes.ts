import type { RouteConfig } from '@x402/core/server';
import { declareEip2612GasSponsoringExtension, declareErc20ApprovalGasSponsoringExtension } from '@x402/extensions';
import type { Address } from 'viem';
import { type PaidToken, paidOn } from '../payers';

/** A route that is sold, with the name that it has in the end-to-end tests of the official packages. */
export interface SoldRoute {
  path: string;
  scheme: 'exact' | 'upto';
  method: 'eip3009' | 'permit2';
  token: PaidToken;
  flow?: 'upfront';
  /** What a payer may sign who has given Permit2 no allowance. */
  sponsoring?: () => Record<string, unknown>;
  /** What the seller asks of the facilitator, in this order. */
  asked: readonly ('verify' | 'settle')[];
}

const both = ['verify', 'settle'] as const;
const upfront = { flow: 'upfront', asked: ['settle'] } as const;
const usdc = { token: 'USDC', asked: both } as const;
const permit = { sponsoring: declareEip2612GasSponsoringExtension };
/** What a payer signs for a token without permits. */
const approval = { token: 'USDT', asked: both, sponsoring: declareErc20ApprovalGasSponsoringExtension } as const;

export const soldRoutes: SoldRoute[] = [
  { path: '/exact/evm/eip3009', scheme: 'exact', method: 'eip3009', ...usdc },
  { path: '/exact/evm/eip3009/upfront', scheme: 'exact', method: 'eip3009', ...usdc, ...upfront },
  { path: '/exact/evm/permit2', scheme: 'exact', method: 'permit2', ...usdc },
  { path: '/exact/evm/permit2/upfront', scheme: 'exact', method: 'permit2', ...usdc, ...upfront },
  { path: '/exact/evm/permit2-eip2612GasSponsoring', scheme: 'exact', method: 'permit2', ...usdc, ...permit },
  { path: '/exact/evm/permit2-erc20ApprovalGasSponsoring', scheme: 'exact', method: 'permit2', ...approval },
  { path: '/upto/evm/permit2', scheme: 'upto', method: 'permit2', ...usdc },
  { path: '/upto/evm/permit2-eip2612GasSponsoring', scheme: 'upto', method: 'permit2', ...usdc, ...permit },
  { path: '/upto/evm/permit2-erc20ApprovalGasSponsoring', scheme: 'upto', method: 'permit2', ...approval },
];

/** What upto routes take of the 2000 that payers authorise, where the url does not say. */
export const usualAmount = '1000';

/** Name and version of the EIP-712 domain; USDT has none. */
const domains = { USDC: { name: 'USD Coin', version: '2' }, USDT: {} };

/** The routes as middlewares are configured with them: 1000 atomic units, or up to 2000. */
export function toRoutes(payTo: Address): Record<string, RouteConfig> {
  const { tokens } = paidOn();
  return Object.fromEntries(
    soldRoutes.map(({ path, scheme, method, token, flow, sponsoring }) => [
      `GET ${path}`,
      {
        accepts: {
          ...{ scheme, payTo, network: 'eip155:8453' },
          price: { amount: scheme === 'upto' ? '2000' : '1000', asset: tokens[token], extra: domains[token] },
          extra: { ...(method === 'permit2' && { assetTransferMethod: method }), ...(flow && { paymentFlow: flow }) },
        },
        ...(sponsoring && { extensions: sponsoring() }),
      },
    ]),
  );
}

import type { RequestHandler } from 'express';
import { type Bought, bought } from './buyer';
import { officialPackage } from './installed';
import { gatewayAsFacilitator, type Seller, sellerBehind } from './sellers';

/** The packages of version 1 of the protocol, which receive no changes any more but are in use. */

type Terms = Record<string, unknown>;
interface PackagesV1 {
  paymentMiddleware: (payTo: string, routes: object, facilitator: object) => RequestHandler;
  /** `signer`: an account of viem, or a signer of @solana/kit. */
  createPaymentHeader: (signer: object, version: 1, terms: Terms, config: object) => Promise<string>;
}

function load(): PackagesV1 | null {
  const [server, client] = [officialPackage('x402-express'), officialPackage('x402')];
  if (!server || !client) return null;
  const { paymentMiddleware } = jest.requireActual<PackagesV1>(server);
  const { createPaymentHeader } = jest.requireActual<PackagesV1>(`${client}/dist/cjs/client/index.js`);
  return { paymentMiddleware, createPaymentHeader };
}

/** null: `npm ci --prefix test/official --ignore-scripts` was not run. */
export const packagesV1 = load();

function installed(): PackagesV1 {
  if (!packagesV1) throw new Error('the packages of version 1 are not installed');
  return packagesV1;
}

/** Sells one route with `x402-express`. @throws Error where the packages are not installed */
export function sellerV1(payTo: string, routes: object, path: string): Promise<Omit<Seller, 'asked'>> {
  return sellerBehind(installed().paymentMiddleware(payTo, routes, gatewayAsFacilitator()), path);
}

/** As x402 1.2 has it done: ask, sign for the first of the terms, ask again. */
export async function buyV1(signer: object, url: string, config: object = {}): Promise<Bought> {
  const { accepts } = (await (await fetch(url)).json()) as { accepts: [Terms] };
  const payment = await installed().createPaymentHeader(signer, 1, accepts[0], config);
  return bought(await fetch(url, { headers: { 'X-PAYMENT': payment } }));
}

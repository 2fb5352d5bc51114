import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { type FacilitatorConfig, HTTPFacilitatorClient, type RoutesConfig, x402ResourceServer } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { UptoEvmScheme } from '@x402/evm/upto/server';
import { paymentMiddleware as expressMiddleware, setSettlementOverrides as overrideInExpress } from '@x402/express';
import { paymentMiddleware as honoMiddleware, setSettlementOverrides as overrideInHono } from '@x402/hono';
import { serve } from '@hono/node-server';
import express, { type RequestHandler } from 'express';
import { Hono } from 'hono';
import type { Address } from 'viem';
import { api, stack } from '../../stack/client';
import { type SoldRoute, soldRoutes, toRoutes, usualAmount } from './routes';

/** Somebody who sells over HTTP, with the middleware of an official package, and takes the gateway as its facilitator. */
export interface Seller {
  url: string;
  /** What it has asked of the gateway. */
  asked: ('verify' | 'settle')[];
  close: () => Promise<void>;
}

/** The gateway as facilitator of one of the seeded clients. */
export function gatewayAsFacilitator(name?: 'other') {
  const createAuthHeaders = async () => {
    const headers = { Authorization: `Bearer ${await api(name).accessToken()}` };
    // so that a slow machine does not have sellers ask twice
    return { verify: headers, settle: { ...headers, Prefer: 'wait=60' }, supported: headers, bazaar: headers };
  };
  return { url: `${stack().base_url}/x402`, createAuthHeaders } satisfies FacilitatorConfig;
}

export async function listening(server: Server): Promise<Omit<Seller, 'asked'>> {
  if (!server.listening) await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

/** The official client, which notes what it is asked for. */
class NotingFacilitatorClient extends HTTPFacilitatorClient {
  readonly asked: Seller['asked'] = [];

  override verify(...payment: Parameters<HTTPFacilitatorClient['verify']>) {
    this.asked.push('verify');
    return super.verify(...payment);
  }

  override settle(...payment: Parameters<HTTPFacilitatorClient['settle']>) {
    this.asked.push('settle');
    return super.settle(...payment);
  }
}

/** What somebody sells, and by which schemes. */
export interface Offer {
  routes: RoutesConfig;
  sold: readonly Pick<SoldRoute, 'path' | 'scheme'>[];
  register: (server: x402ResourceServer) => x402ResourceServer;
}

export const onEvm = (payTo: Address): Offer => ({
  ...{ routes: toRoutes(payTo), sold: soldRoutes },
  register: (server) => server.register('eip155:*', new ExactEvmScheme()).register('eip155:*', new UptoEvmScheme()),
});

function resourceServer({ register }: Offer): { server: x402ResourceServer; asked: Seller['asked'] } {
  const facilitator = new NotingFacilitatorClient(gatewayAsFacilitator());
  return { server: register(new x402ResourceServer(facilitator)), asked: facilitator.asked };
}

async function expressSeller(offer: Offer): Promise<Seller> {
  const { server, asked } = resourceServer(offer);
  const app = express();
  app.use(expressMiddleware(offer.routes, server));
  for (const { path, scheme } of offer.sold)
    app.get(path, ({ query: { take } }, response) => {
      if (scheme === 'upto') overrideInExpress(response, { amount: typeof take === 'string' ? take : usualAmount });
      response.json({ sold: path });
    });
  return { ...(await listening(app.listen(0, '127.0.0.1'))), asked };
}

async function honoSeller(offer: Offer): Promise<Seller> {
  const { server, asked } = resourceServer(offer);
  const app = new Hono();
  app.use(honoMiddleware(offer.routes, server));
  for (const { path, scheme } of offer.sold)
    app.get(path, (context) => {
      if (scheme === 'upto') overrideInHono(context, { amount: context.req.query('take') ?? usualAmount });
      return context.json({ sold: path });
    });
  return { ...(await listening(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server)), asked };
}

export const sellers = { '@x402/express': expressSeller, '@x402/hono': honoSeller };

/** One route behind a middleware that is given. */
export function sellerBehind(middleware: RequestHandler, path: string): Promise<Omit<Seller, 'asked'>> {
  const app = express();
  app.use(middleware);
  app.get(path, (_request, response) => void response.json({ sold: path }));
  return listening(app.listen(0, '127.0.0.1'));
}

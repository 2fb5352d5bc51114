// Sells GET /report for 0.01 USDC. The gateway checks and settles the payments.
import { GatewayClient } from '@custody-gateway/client';
import { HTTPFacilitatorClient } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import express from 'express';

const { GATEWAY_URL, API_KEY, API_SECRET, PAY_TO, NETWORK = 'eip155:8453', PORT = '4021' } = process.env;

const gateway = new GatewayClient({ baseUrl: GATEWAY_URL, apiKey: API_KEY, apiSecret: API_SECRET });
const facilitator = new HTTPFacilitatorClient({
  url: `${GATEWAY_URL}/x402`,
  createAuthHeaders: async () => {
    const headers = { Authorization: `Bearer ${await gateway.accessToken()}` };
    // a payment that is not on the chain in time would be a refusal to its buyer: wait longer than the usual 20 seconds
    return { verify: headers, settle: { ...headers, Prefer: 'wait=60' }, supported: headers, bazaar: headers };
  },
});
const server = new x402ResourceServer(facilitator).register(NETWORK, new ExactEvmScheme());
const routes = { 'GET /report': { accepts: { scheme: 'exact', price: '$0.01', network: NETWORK, payTo: PAY_TO } } };

const app = express();
app.use(paymentMiddleware(routes, server));
app.get('/report', (_request, response) => response.json({ report: 'sunny, 24 °C' }));
const listener = app.listen(Number(PORT), '127.0.0.1', () => console.log(`http://127.0.0.1:${listener.address().port}/report`));

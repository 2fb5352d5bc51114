import { randomBytes } from 'node:crypto';
import type { RequestHandler } from 'express';
import { type Address, getAddress, type Hex, type PrivateKeyAccount } from 'viem';
import { type Bought, bought, buy } from './official/buyer';
import { officialPackage } from './official/installed';
import { gatewayAsFacilitator, type Seller, sellerBehind } from './official/sellers';
import { newPayer, paidOn, untilSettling, usdcOf } from './payers';

/** The packages of version 1 of the protocol, which receive no changes any more but are in use. */

type Terms = Record<string, unknown>;
interface PackagesV1 {
  paymentMiddleware: (payTo: Address, routes: object, facilitator: object) => RequestHandler;
  createPaymentHeader: (account: PrivateKeyAccount, version: 1, terms: Terms) => Promise<string>;
}

function load(): PackagesV1 | null {
  const [server, client] = [officialPackage('x402-express'), officialPackage('x402')];
  if (!server || !client) return null;
  const { paymentMiddleware } = jest.requireActual<PackagesV1>(server);
  const { createPaymentHeader } = jest.requireActual<PackagesV1>(`${client}/dist/cjs/client/index.js`);
  return { paymentMiddleware, createPaymentHeader };
}

const packages = load();
const payTo = getAddress(`0x${randomBytes(20).toString('hex')}`);
const path = '/sold';

// skipped: `npm ci --prefix test/official --ignore-scripts` was not run
(packages ? describe : describe.skip)('x402-express 1.2', () => {
  const { paymentMiddleware, createPaymentHeader } = packages as PackagesV1;
  let seller: Omit<Seller, 'asked'>;

  beforeAll(async () => {
    await untilSettling();
    const asset = { address: paidOn().usdc, decimals: 6, eip712: { name: 'USD Coin', version: '2' } };
    const routes = { [`GET ${path}`]: { price: { amount: '1000', asset }, network: 'base' } };
    seller = await sellerBehind(paymentMiddleware(payTo, routes, gatewayAsFacilitator()), path);
  }, 300_000);
  afterAll(() => seller.close());

  /** As x402 1.2 has it done: ask, sign for the first of the terms, ask again. */
  async function buyV1(account: PrivateKeyAccount, url: string): Promise<Bought> {
    const { accepts } = (await (await fetch(url)).json()) as { accepts: [Terms] };
    const payment = await createPaymentHeader(account, 1, accepts[0]);
    return bought(await fetch(url, { headers: { 'X-PAYMENT': payment } }));
  }

  test.each([
    ['x402 1.2', buyV1],
    ['@x402/fetch', buy],
  ])('sells to %s', async (_name, buyFrom) => {
    const [before, buyer] = [await usdcOf(payTo), await newPayer()];
    expect(await buyFrom(buyer, `${seller.url}${path}`)).toMatchObject({
      ...{ status: 200, body: { sold: path } },
      settled: { success: true, network: 'eip155:8453', payer: buyer.address, transaction: expect.stringMatching(/^0x/) },
    });
    expect((await usdcOf(payTo)) - before).toBe(1000n);
  });

  test('sells nothing to whom the payment is not good', async () => {
    const [before, buyer] = [await usdcOf(payTo), await newPayer()];
    const wrong = (account: PrivateKeyAccount, url: string) =>
      buyV1({ ...account, signTypedData: () => Promise.resolve<Hex>(`0x${'1b'.repeat(65)}`) }, url);
    expect(await wrong(buyer, `${seller.url}${path}`)).toMatchObject({
      ...{ status: 402, body: { error: 'invalid_exact_evm_signature', payer: buyer.address } },
      settled: null,
    });
    expect(await usdcOf(payTo)).toBe(before);
  });
});

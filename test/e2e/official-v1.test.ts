import { randomBytes } from 'node:crypto';
import { getAddress, type Hex, type PrivateKeyAccount } from 'viem';
import { buy } from './official/buyer';
import type { Seller } from './official/sellers';
import { buyV1, packagesV1, sellerV1 } from './official/v1';
import { newPayer, paidOn, untilSettling, usdcOf } from './payers';

const payTo = getAddress(`0x${randomBytes(20).toString('hex')}`);
const path = '/sold';

(packagesV1 ? describe : describe.skip)('x402-express 1.2', () => {
  let seller: Omit<Seller, 'asked'>;

  beforeAll(async () => {
    await untilSettling();
    const asset = { address: paidOn().usdc, decimals: 6, eip712: { name: 'USD Coin', version: '2' } };
    const routes = { [`GET ${path}`]: { price: { amount: '1000', asset }, network: 'base' } };
    seller = await sellerV1(payTo, routes, path);
  });
  afterAll(() => seller.close());

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

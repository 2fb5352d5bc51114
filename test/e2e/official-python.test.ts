import { randomBytes } from 'node:crypto';
import { getAddress } from 'viem';
import { account, keyOf } from '../integration/dev/payers';
import { buy } from './official/buyer';
import { officialPython } from './official/installed';
import { pythonBuyer, type PythonBuyer, pythonSeller } from './official/python';
import { type SoldRoute, soldRoutes } from './official/routes';
import { onEvm, type Seller, sellers } from './official/sellers';
import { approvePermit2, balanceOf, newPayer, untilSettling } from './payers';

/** The official package of Python: another implementation of both sides. */

const payTo = getAddress(`0x${randomBytes(20).toString('hex')}`);
const interpreter = officialPython();

// skipped: test/official/.venv is not there (CONTRIBUTING.md)
(interpreter ? describe : describe.skip)('x402 of PyPI', () => {
  const python = String(interpreter);
  const allowing = `allowing ${Date.now()}`;
  const routes = soldRoutes.map((route) => [route.path, route] as const);
  let inPython: Omit<Seller, 'asked'>;
  let buyer: PythonBuyer;
  let inExpress: Seller;

  beforeAll(async () => {
    await untilSettling();
    await approvePermit2(await newPayer(allowing));
    buyer = pythonBuyer(python);
    inPython = await pythonSeller(python, payTo);
    inExpress = await sellers['@x402/express'](onEvm(payTo));
  });
  afterAll(async () => {
    await buyer.close();
    await inPython.close();
    await inExpress.close();
  });

  /** Name of a buyer; with an allowance nobody signs a permit. */
  async function buyerOf({ sponsoring, token }: SoldRoute): Promise<string> {
    if (!sponsoring) return allowing;
    const name = `without allowance ${randomBytes(8).toString('hex')}`;
    await newPayer(name, token);
    return name;
  }

  const sale = (path: string, name: string) => ({
    ...{ status: 200, body: { sold: path } },
    settled: { success: true, network: 'eip155:8453', payer: account(name).address, amount: '1000' },
  });

  test.each(routes)('buys %s', async (path, route) => {
    const [before, name] = [await balanceOf(route.token, payTo), await buyerOf(route)];
    expect(await buyer.buy(keyOf(name), `${inExpress.url}${path}`)).toMatchObject(sale(path, name));
    expect((await balanceOf(route.token, payTo)) - before).toBe(1000n);
  });

  test.each(routes)('sells %s', async (path, route) => {
    const [before, name] = [await balanceOf(route.token, payTo), await buyerOf(route)];
    expect(await buy(account(name), `${inPython.url}${path}`)).toMatchObject(sale(path, name));
    expect((await balanceOf(route.token, payTo)) - before).toBe(1000n);
  });

  test('buys from itself', async () => {
    const path = '/exact/evm/eip3009';
    expect(await buyer.buy(keyOf(allowing), `${inPython.url}${path}`)).toMatchObject(sale(path, allowing));
  });
});

import { randomBytes } from 'node:crypto';
import { type Address, getAddress, type Hex, type PrivateKeyAccount } from 'viem';
import { devChain } from '../../dev/chain';
import { account } from '../integration/dev/payers';
import { fund } from '../stack/client';
import { ledgerDifferences } from './ledger';
import { type Bought, buy } from './official/buyer';
import { type SoldRoute, soldRoutes } from './official/routes';
import { onEvm, type Seller, sellers } from './official/sellers';
import { approvePermit2, balanceOf, newPayer, paidChain, paidOn, untilSettling } from './payers';

/** The official packages of sellers and buyers on the running stack, as anybody would use them. */

const payTo = getAddress(`0x${randomBytes(20).toString('hex')}`);
const allowing = account(`allowing ${Date.now()}`);
let settler: Address;

const buyerOf = ({ method, sponsoring, token }: SoldRoute): PrivateKeyAccount | Promise<PrivateKeyAccount> =>
  method === 'permit2' && !sponsoring ? allowing : newPayer(undefined, token);

/** Of both tokens, atomic units. */
const earnings = async (): Promise<bigint> => (await balanceOf('USDC', payTo)) + (await balanceOf('USDT', payTo));
const sentBy = ({ address }: PrivateKeyAccount): Promise<number> => devChain(paidOn().rpc).getTransactionCount({ address });

beforeAll(async () => {
  settler = await untilSettling();
  await fund(paidChain, 'USDC', allowing.address, '1');
  await approvePermit2(allowing);
});

describe.each(Object.entries(sellers))('%s', (_name, start) => {
  let seller: Seller;

  beforeAll(async () => {
    seller = await start(onEvm(payTo));
  });
  afterAll(() => seller.close());

  /** What the buyer has got, what was asked of the gateway for it, and what the seller has earned; atomic units. */
  async function purchase(buyer: PrivateKeyAccount, path: string): Promise<Bought & { asked: Seller['asked']; earned: bigint }> {
    const before = await earnings();
    seller.asked.length = 0;
    const answer = await buy(buyer, `${seller.url}${path}`);
    return { ...answer, asked: [...seller.asked], earned: (await earnings()) - before };
  }

  test.each(soldRoutes.map((route) => [route.path, route] as const))('%s is sold', async (path, route) => {
    const buyer = await buyerOf(route);
    const sent = await sentBy(buyer);
    const { status, body, settled, asked, earned } = await purchase(buyer, path);
    expect({ status, body, settled }).toMatchObject({
      ...{ status: 200, body: { sold: path } },
      settled: { success: true, network: 'eip155:8453', payer: buyer.address, amount: '1000' },
    });
    expect(asked).toEqual(route.asked);
    expect(earned).toBe(1000n);
    const receipt = await devChain(paidOn().rpc).getTransactionReceipt({ hash: settled?.transaction as Hex });
    expect(receipt).toMatchObject({ status: 'success', from: settler.toLowerCase() });
    // its approval is the one transaction that a buyer signs
    expect((await sentBy(buyer)) - sent).toBe(/erc20Approval/.test(path) ? 1 : 0);
  });

  test.each([
    ['less than', '1'],
    ['as much as', '2000'],
  ])('upto takes %s was authorised', async (_what, amount) => {
    expect(await purchase(allowing, `/upto/evm/permit2?take=${amount}`)).toMatchObject({
      ...{ status: 200, settled: { success: true, amount }, earned: BigInt(amount) },
    });
  });

  test('upto takes nothing, without a transaction', async () => {
    expect(await purchase(allowing, '/upto/evm/permit2?take=0')).toMatchObject({
      ...{ status: 200, settled: { success: true, transaction: '', amount: '0' }, earned: 0n },
    });
  });

  test('upto takes no more than was authorised, and the resource is kept back', async () => {
    const { status, body, settled, earned } = await purchase(allowing, '/upto/evm/permit2?take=2001');
    expect({ status, settled, earned }).toMatchObject({
      settled: { success: false, errorReason: 'invalid_upto_evm_payload_settlement_exceeds_amount' },
      ...{ status: 402, earned: 0n },
    });
    expect(body).not.toHaveProperty('sold');
  });

  test('who has given Permit2 no allowance is told so', async () => {
    expect(await purchase(await newPayer(), '/exact/evm/permit2')).toMatchObject({ status: 412, settled: null, earned: 0n });
  });

  test('who has no money gets nothing', async () => {
    const { status, body, earned } = await purchase(account('nobody'), '/exact/evm/eip3009');
    expect({ status, earned }).toEqual({ status: 402, earned: 0n });
    expect(body).not.toHaveProperty('sold');
  });
});

afterAll(async () => {
  expect(await ledgerDifferences()).toEqual([]);
});

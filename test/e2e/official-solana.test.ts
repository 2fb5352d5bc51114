import { createSolanaRpc, generateKeyPairSigner, type KeyPairSigner, type Signature } from '@solana/kit';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { api, stack, waitFor } from '../stack/client';
import { isInstalled } from '../unit/x402/solana/official';
import { caip2 } from '../unit/x402/solana/scene';
import { ledgerDifferences } from './ledger';
import { type Bought, bought } from './official/buyer';
import { type Seller, sellers } from './official/sellers';
import {
  buyOnSolana,
  chain,
  cost,
  newSolanaPayer,
  onSolana,
  solanaOfStack,
  solanaRoutes,
  tokensOnSolana,
} from './official/solana';
import { buyV1, packagesV1, sellerV1 } from './official/v1';
import { balances, call, fundedAccount, transactionWhen } from './support';

/** The official packages of sellers and buyers on Solana, on the running stack: the gateway is the facilitator, its nodes sign for the settler. */

let [settler, payTo] = ['', ''];

// skipped: the local chain has no package for every machine (litesvm), or `npm ci --prefix test/official --ignore-scripts` was not run
(isInstalled && chain in stack().chains ? describe : describe.skip)('on Solana', () => {
  beforeAll(async () => {
    settler = await waitFor(() => stack().settlers[chain], { timeoutMs: 900_000, intervalMs: 500 });
    payTo = (await newSolanaPayer()).address;
    await waitFor(async () => {
      const { body } = await api().request<{ kinds: { network: string }[] }>('GET', '/x402/supported');
      return body.kinds.some(({ network }) => network === caip2);
    });
  }, 1_200_000);
  afterAll(async () => expect(await ledgerDifferences()).toEqual([]));

  const earnings = (): Promise<bigint> => tokensOnSolana('USDC', payTo);

  /** Of one payment: somebody has bought, and the settler has paid for the transaction, once it is final. */
  async function expectSold({ status, body, settled }: Bought, payer: string, path: string): Promise<void> {
    expect({ status, body, settled }).toMatchObject({
      ...{ status: 200, body: { sold: path } },
      settled: { success: true, payer, transaction: expect.any(String) },
    });
    const id = settled?.transaction as Signature;
    const rpc = createSolanaRpc(solanaOfStack().rpc);
    const options = { commitment: 'finalized', encoding: 'json', maxSupportedTransactionVersion: 0 } as const;
    const found = await rpc.getTransaction(id, options).send();
    expect(found?.meta?.err).toBeNull();
    expect(found?.transaction.message.accountKeys.slice(0, 2)).toEqual([settler, payer]);
  }

  describe.each(Object.entries(sellers))('%s', (_name, start) => {
    let seller: Seller;
    beforeAll(async () => {
      seller = await start(await onSolana(payTo));
    });
    beforeEach(() => void (seller.asked.length = 0));
    afterAll(() => seller.close());

    test.each(solanaRoutes)('$path is sold', async ({ path, asked }) => {
      const [before, buyer] = [await earnings(), await newSolanaPayer()];
      const answer = await buyOnSolana(buyer, `${seller.url}${path}`);
      await expectSold(answer, buyer.address, path);
      expect(answer.settled).toMatchObject({ network: caip2, amount: cost });
      expect(seller.asked).toEqual(asked);
      expect((await earnings()) - before).toBe(BigInt(cost));
      expect(await tokensOnSolana('USDC', buyer.address)).toBe(1_000_000n - BigInt(cost));
    });

    test('who has no money gets nothing', async () => {
      const before = await earnings();
      const { status, body } = await buyOnSolana(await generateKeyPairSigner(), `${seller.url}/exact/svm`);
      expect(status).toBe(402);
      expect(body).not.toHaveProperty('sold');
      expect(seller.asked).toEqual(['verify']);
      expect(await earnings()).toBe(before);
    });

    test('an account of the gateway buys, by the signature of the nodes', async () => {
      const account = await fundedAccount(chain, { USDC: '1' });
      const [before, url] = [await earnings(), `${seller.url}/exact/svm`];
      const required = decodePaymentRequiredHeader((await fetch(url)).headers.get('PAYMENT-REQUIRED') ?? '');
      const { accepts, resource } = required;
      const request = { x402Version: 2, payer: account.address, paymentRequirements: accepts[0], resource };
      const { status, body } = await call('POST', '/x402/sign', { body: request, headers: { Prefer: 'wait=60' } });
      expect({ status, body }).toMatchObject({ status: 202, body: { status: 'SUBMITTED', failure: null } });
      const { name, value } = body.header as { name: string; value: string };
      const answer = await bought(await fetch(url, { headers: { [name]: value } }));
      await expectSold(answer, account.address, '/exact/svm');
      const ended = await transactionWhen(body.txId as string, ['CONFIRMED', 'FAILED', 'NEEDS_ATTENTION']);
      expect(ended).toMatchObject({
        ...{ status: 'CONFIRMED', transaction_type: 'X402_SIGN', tx_hash: answer.settled?.transaction, to_address: payTo },
      });
      expect((await earnings()) - before).toBe(BigInt(cost));
      expect((await balances(account.account_id, chain)).USDC).toEqual({ balance: '0.999', locked_balance: '0' });
    });
  });

  const testV1 = packagesV1 ? test : test.skip;

  testV1.each([
    ['x402 1.2', (buyer: KeyPairSigner, url: string) => buyV1(buyer, url, { svmConfig: { rpcUrl: solanaOfStack().rpc } })],
    ['@x402/fetch', buyOnSolana],
  ])('x402-express 1.2 sells to %s', async (_name, buy) => {
    const path = '/sold';
    const asset = { address: solanaOfStack().tokens.USDC, decimals: 6 };
    const routes = { [`GET ${path}`]: { price: { amount: cost, asset }, network: chain } };
    const seller = await sellerV1(payTo, routes, path);
    try {
      const [before, buyer] = [await earnings(), await newSolanaPayer()];
      await expectSold(await buy(buyer, `${seller.url}${path}`), buyer.address, path);
      expect((await earnings()) - before).toBe(BigInt(cost));
    } finally {
      await seller.close();
    }
  });
});

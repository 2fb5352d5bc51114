import type { SchemeNetworkServer } from '@x402/core/types';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { address, createSolanaRpc, generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import { fund, stack, waitFor } from '../../stack/client';
import { load, officialPayer } from '../../unit/x402/solana/official';
import { caip2 } from '../../unit/x402/solana/scene';
import { type Bought, bought } from './buyer';
import type { Offer } from './sellers';

/** Sellers and buyers with `@x402/svm`, on the local chain: it has the name of mainnet, the only one that the packages know beside test networks. */

export const chain = 'solana';
/** Atomic units of USDC. */
export const cost = '1000';

/** RPC url and mints. */
export const solanaOfStack = () => stack().chains[chain] as { rpc: string; tokens: Record<'USDC' | 'USDT', string> };

const both = ['verify', 'settle'] as const;
export const solanaRoutes = [
  { path: '/exact/svm', scheme: 'exact', extra: {}, asked: both },
  { path: '/exact/svm/memo', scheme: 'exact', extra: { memo: 'order 7' }, asked: both },
  { path: '/exact/svm/upfront', scheme: 'exact', extra: { paymentFlow: 'upfront' }, asked: ['settle'] },
] as const;

export async function onSolana(payTo: string): Promise<Offer> {
  const { ExactSvmScheme } = await load<{ ExactSvmScheme: new () => SchemeNetworkServer }>('exact', 'server');
  const price = { amount: cost, asset: solanaOfStack().tokens.USDC };
  return {
    routes: Object.fromEntries(
      solanaRoutes.map(({ path, scheme, extra }) => [
        `GET ${path}`,
        { accepts: { scheme, payTo, network: caip2, price, extra } },
      ]),
    ),
    sold: solanaRoutes,
    register: (server) => server.register('solana:*', new ExactSvmScheme()),
  };
}

/** Buys with `@x402/fetch`, in either version of the protocol. */
export async function buyOnSolana(buyer: KeyPairSigner, url: string): Promise<Bought> {
  const { rpc } = solanaOfStack();
  const client = new x402Client()
    .register('solana:*', await officialPayer(2, buyer, rpc))
    .registerV1(chain, await officialPayer(1, buyer, rpc));
  return bought(await wrapFetchWithPayment(fetch, client)(url));
}

/** What an address has in finalized blocks, atomic units. */
export async function tokensOnSolana(symbol: 'USDC' | 'USDT', owner: string): Promise<bigint> {
  const { rpc, tokens } = solanaOfStack();
  const options = { commitment: 'finalized', encoding: 'jsonParsed' } as const;
  const { value } = await createSolanaRpc(rpc)
    .getTokenAccountsByOwner(address(owner), { mint: address(tokens[symbol]) }, options)
    .send();
  return value.reduce((sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount), 0n);
}

/** With 1 USDC in a finalized block: it has no SOL. */
export async function newSolanaPayer(): Promise<KeyPairSigner> {
  const payer = await generateKeyPairSigner();
  await fund(chain, 'USDC', payer.address, '1');
  await waitFor(async () => (await tokensOnSolana('USDC', payer.address)) > 0n, { timeoutMs: 90_000 });
  return payer;
}

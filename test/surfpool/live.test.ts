import { expectPaid, runLiveSolana } from '../live/solana-scenario';
import { solanaChain } from '../solana';
import { sol, usdc } from '../solana-chain';
import { SurfpoolChain } from './chain';
import { onSurfpool } from './fixture';

/** The steps of `npm run test:live` on Solana. */

let chain: SurfpoolChain;
beforeAll(async () => {
  chain = await SurfpoolChain.open();
});
afterAll(() => chain.local.stop());

onSurfpool.each([
  ['SOL', null],
  ['a token', usdc],
])('%s is paid, finalized and found in its block', async (_, token) => {
  const { secret, holder } = await chain.ownSigner(sol(1));
  await chain.client.fundToken('USDC', holder.address, 1_000_000n);
  await chain.mine();
  const options = { chain: solanaChain, urls: [`${chain.local.url}?rate=1000`], key: secret, token, isSentOnce: true };
  expectPaid(await runLiveSolana(options, 200), token);
});

import { ConfigError } from '../../../src/platform/config';
import { readLiveSolanaOptions } from '../../live/solana-environment';
import { expectPaid, runLiveSolana } from '../../live/solana-scenario';
import { solanaChain } from '../../solana';
import { sol, TestChain, usdc } from '../../solana-chain';

/** The steps of `npm run test:live`, on the local chain. */

let chain: TestChain;
beforeAll(async () => {
  chain = await TestChain.start({ confirmed: 1, finalized: 2, isMining: true, slotMs: 50 });
});
afterAll(() => TestChain.stopAll());

test.each([
  ['SOL', null],
  ['a token', usdc],
])('%s', async (_, token) => {
  const { secret, holder } = await chain.ownSigner(sol(1));
  await chain.client.fundToken('USDC', holder.address, 1_000_000n);
  const options = { chain: solanaChain, urls: [`${chain.local.url}?rate=1000`], key: secret, token };
  const until = Date.now() + 10_000;
  // what the payer has has to be finalized, and these coins come after the tokens
  await chain.client.fund(holder.address, sol(1));
  while ((await chain.balance(holder.address, 'finalized')) < sol(2) && Date.now() < until)
    await new Promise((resolve) => setTimeout(resolve, 20));
  expectPaid(await runLiveSolana(options, 50), token);
});

test('without coins it says which address needs some', async () => {
  const options = { chain: solanaChain, urls: [`${chain.local.url}?rate=1000`], key: new Uint8Array(32).fill(9), token: null };
  await expect(runLiveSolana(options, 50)).rejects.toThrow(/^nothing could be prepared; [1-9A-HJ-NP-Za-km-z]{32,44} needs SOL$/);
});

test('the environment names devnet’s endpoints, a key, and perhaps a mint; without the first two nothing is run', () => {
  const env = { LIVE_SOLANA_RPC_URLS: 'https://api.devnet.solana.com', LIVE_SOLANA_KEY: '11'.repeat(32) };
  expect(readLiveSolanaOptions({})).toBeNull();
  expect(readLiveSolanaOptions(env)).toMatchObject({ chain: { network: 'devnet' }, token: null });
  const withToken = readLiveSolanaOptions({ ...env, LIVE_SOLANA_TOKEN: usdc });
  expect(withToken?.token).toBe(usdc);
  expect(withToken?.chain.tokens).toContainEqual(expect.objectContaining({ contract: usdc }));
  for (const wrong of [{ LIVE_SOLANA_RPC_URLS: '' }, { LIVE_SOLANA_KEY: 'x' }, { LIVE_SOLANA_TOKEN: 'x' }])
    expect(() => readLiveSolanaOptions({ ...env, ...wrong })).toThrow(ConfigError);
});

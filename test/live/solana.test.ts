import { readLiveSolanaOptions } from './solana-environment';
import { expectPaid, runLiveSolana } from './solana-scenario';

/** `npm run test:live`: opt-in, with a node and coins of devnet, from the environment. */

jest.setTimeout(15 * 60_000);

const options = readLiveSolanaOptions();

if (options) {
  test('a payment on devnet is built, signed, taken by its nodes, finalized and found in its block', async () => {
    expectPaid(await runLiveSolana(options), options.token);
  });
} else {
  process.stdout.write(
    'Solana is left out: neither LIVE_SOLANA_RPC_URLS nor LIVE_SOLANA_KEY is set (CONTRIBUTING.md, "Live networks").\n',
  );
  test.skip('a payment on devnet', () => {});
}

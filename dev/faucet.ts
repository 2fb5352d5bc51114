import { defaultDataDir, devPaths } from './paths';
import { readJson } from './files';
import { fund, FaucetError } from './fund';
import type { StackFile } from './stack-file';

/** `npm run faucet -- <chain> <SYMBOL> <address> <amount>`: prints the transaction hash. */
async function main(): Promise<void> {
  const [chain, symbol, address, amount, ...more] = process.argv.slice(2);
  if (!chain || !symbol || !address || !amount || more.length > 0) {
    throw new FaucetError('usage: npm run faucet -- <chain> <SYMBOL> <address> <amount>, such as: ethereum USDC 0x… 100');
  }
  const file = process.env.GATEWAY_TEST_STACK ?? devPaths(defaultDataDir()).stackFile;
  const stack = readJson<StackFile>(file);
  if (!stack) throw new FaucetError('no stack is running: start one with `npm run dev`');
  console.log(await fund(stack, chain, symbol, address, amount));
}

main().catch((error: unknown) => {
  console.error(
    error instanceof FaucetError ? error.message : `the faucet failed: ${error instanceof Error ? error.message : String(error)}`,
  );
  process.exit(1);
});

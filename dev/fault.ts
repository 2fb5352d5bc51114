import type { ChainFaults } from './chain-faults';
import { FaultError, chainFaults } from './faults';
import { defaultDataDir } from './paths';

const usage =
  'usage: npm run fault -- <chain> delay | resume | mine <blocks> | drop <transaction hash> | reorg <blocks>, such as: bitcoin reorg 2';
const maxBlocks = 100;

/** `npm run fault -- <chain> <fault> [argument]` on the running stack. */
async function main(): Promise<void> {
  const [chain, name, argument, ...more] = process.argv.slice(2);
  if (!chain || !name || more.length > 0) throw new FaultError(usage);
  await carryOut(chainFaults(defaultDataDir(), chain), name, argument);
}

async function carryOut(faults: ChainFaults, name: string, argument: string | undefined): Promise<void> {
  if (name === 'delay' && argument === undefined) return faults.delay();
  if (name === 'resume' && argument === undefined) return faults.resume();
  if (name === 'drop' && argument !== undefined) return faults.drop(argument);
  const blocks = Number(argument);
  if (Number.isInteger(blocks) && blocks > 0 && blocks <= maxBlocks) {
    if (name === 'mine') return faults.mine(blocks);
    if (name === 'reorg') return faults.reorganise(blocks);
  }
  throw new FaultError(usage);
}

main().catch((error: unknown) => {
  console.error(
    error instanceof FaultError ? error.message : `the fault failed: ${error instanceof Error ? error.message : String(error)}`,
  );
  process.exit(1);
});

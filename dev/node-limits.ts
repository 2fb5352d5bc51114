import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { getFamily } from '../src/chains/families';
import { loadRegistry } from '../src/chains/registry';
import { writeFileAtomically } from './files';
import { walletFactory } from './wallet-factory';

/** Far above what the stack ever moves: the checks run, and refuse nothing. */
const plenty = (10n ** 40n).toString();

/** Where the nodes of a stack let coins of the house go; nobody has its key. */
export const houseDestination = '0x2f4D9a61C80b7E35fd186A9e04C7B35d8E90aF12'.toLowerCase();

/** The limits file of the three nodes, for the chains of this start. Also makes the folder of their journal marks. Returns its path. */
export function nodeLimits(folder: string, chains: string[]): string {
  mkdirSync(folder, { recursive: true });
  const limits = { maxAmount: plenty, maxPerKeyAndDay: plenty, maxPerDay: plenty };
  const fees = { maxFee: plenty, maxFeesPerKeyAndDay: plenty, maxFeesPerDay: plenty };
  const registry = loadRegistry('local', chains);
  const content = chains.map((name) => {
    const { family, tokens } = registry.get(name);
    const names = ['native', 'gas', 'consolidation', ...tokens.flatMap(({ contract }) => contract ?? [])];
    const houseDestinations = [houseDestination].filter((address) => getFamily(family).parseAddress(address) !== null);
    const allowed = { houseDestinations, walletFactories: family === 'evm' ? [walletFactory] : [] };
    return [name, { ...fees, tokens: Object.fromEntries(names.map((token) => [token, limits])), ...allowed }];
  });
  const file = path.join(folder, 'limits.json');
  writeFileAtomically(file, `${JSON.stringify({ chains: Object.fromEntries(content) as object }, null, 2)}\n`);
  return file;
}

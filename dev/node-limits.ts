import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { loadRegistry } from '../src/chains/registry';
import { writeFileAtomically } from './files';

/** Far above what the stack ever moves: the checks run, and refuse nothing. */
const plenty = (10n ** 40n).toString();

/** The limits file of the three nodes, for the chains of this start. Also makes the folder of their journal marks. Returns its path. */
export function nodeLimits(folder: string, chains: string[]): string {
  mkdirSync(folder, { recursive: true });
  const limits = { maxAmount: plenty, maxPerKeyAndDay: plenty, maxPerDay: plenty };
  const fees = { maxFee: plenty, maxFeesPerKeyAndDay: plenty, maxFeesPerDay: plenty };
  const registry = loadRegistry('local', chains);
  const content = chains.map((name) => {
    const names = ['native', 'gas', ...registry.get(name).tokens.flatMap(({ contract }) => contract ?? [])];
    return [name, { ...fees, tokens: Object.fromEntries(names.map((token) => [token, limits])) }];
  });
  const file = path.join(folder, 'limits.json');
  writeFileAtomically(file, `${JSON.stringify({ chains: Object.fromEntries(content) as object }, null, 2)}\n`);
  return file;
}

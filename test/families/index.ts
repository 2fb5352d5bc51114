import { stack } from '../stack/client';
import { bitcoinFixture } from './bitcoin';
import { evmFixture } from './evm';
import type { FamilyFixture, NodeView } from './fixture';
import { solanaFixture } from './solana';
import { tronFixture } from './tron';

/** Every family by one chain. A new one adds its fixture here. */
export const families: readonly FamilyFixture[] = [evmFixture('ethereum'), bitcoinFixture, tronFixture, solanaFixture];

/** With a chain whose fee has a part for another chain. */
export const fixtures: readonly FamilyFixture[] = [...families, evmFixture('base')];

/** @throws Error for a chain that has none. */
export function fixtureOf(chain: string): FamilyFixture {
  const found = fixtures.find((fixture) => fixture.chain === chain);
  if (!found) throw new Error(`${chain} has no fixture`);
  return found;
}

/** The node of the running stack. */
export const nodeOf = (chain: string): NodeView => fixtureOf(chain).node(stack().chains[chain]?.rpc ?? '');

/** The same tests on every chain. On one that the stack has left out, or DEV_CHAINS does not name, they count as skipped. */
export function describeOnStack(title: string, tests: (fixture: FamilyFixture) => void, on = fixtures): void {
  for (const fixture of on) (isInStack(fixture) ? describe : describe.skip)(`${title}: ${fixture.chain}`, () => tests(fixture));
}

/** The same on one chain of every family, of what takes long. */
export const describeFamilies = (title: string, tests: (fixture: FamilyFixture) => void): void =>
  describeOnStack(title, tests, families);

export const isInStack = ({ chain }: FamilyFixture): boolean => stack().chains[chain] !== undefined;

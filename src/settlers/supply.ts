import type { SettlerReport } from './report';

/** Settlements: with fewer, operators are told to send coins. */
export const lowRunway = 500n;
export const dryRunway = 50n;

export type Supply = 'enough' | 'low' | 'dry';

/** A settler that takes nothing new needs no coins beyond those for what it has, which were there when it took it. */
export function getSupply({ status, spendable, runway }: Pick<SettlerReport, 'status' | 'spendable' | 'runway'>): Supply {
  if (status !== 'ACTIVE') return 'enough';
  if (spendable === 0n) return 'dry';
  if (runway === null || runway >= lowRunway) return 'enough';
  return runway < dryRunway ? 'dry' : 'low';
}

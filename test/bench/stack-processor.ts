import { stack } from '../stack/client';
import { round } from './load';
import { processorMs } from './postgres-processor';

const idleMs = 10_000;
const parts = ['api', 'worker', 'authoriser', 'mpc', 'postgres', 'temporal', 'chains'] as const;
type PerPart = Record<(typeof parts)[number], number>;

const perPart = (of: (part: (typeof parts)[number]) => number): PerPart =>
  Object.fromEntries(parts.map((part) => [part, of(part)])) as PerPart;

/** Processor time of every part of the stack so far, milliseconds. */
function used(): PerPart {
  const { processes } = stack();
  const pidsOf = (part: string) =>
    Object.entries(processes).flatMap(([name, pids]) => ((name.startsWith('chain:') ? 'chains' : name) === part ? pids : []));
  return perPart((part) => pidsOf(part).reduce((sum, pid) => sum + processorMs(pid), 0));
}

/** What every part uses while nothing is sent, of one processor. */
export async function idleShare(): Promise<PerPart> {
  const before = used();
  await new Promise((resolve) => setTimeout(resolve, idleMs));
  const after = used();
  return perPart((part) => (after[part] - before[part]) / idleMs);
}

/** From now on: milliseconds a transaction of every part and of all, beyond what it uses while nothing is sent. */
export function measureProcessor(idle: PerPart | undefined): (count: number) => PerPart & { all: number } {
  const [before, began] = [used(), performance.now()];
  return (count) => {
    const [after, elapsed] = [used(), performance.now() - began];
    const each = perPart((part) => (after[part] - before[part] - elapsed * (idle?.[part] ?? 0)) / count);
    const all = parts.reduce((sum, part) => sum + each[part], 0);
    return { ...perPart((part) => round(each[part])), all: round(all) };
  };
}

export const roundShares = (shares: PerPart): PerPart => perPart((part) => Math.round(shares[part] * 1000) / 1000);

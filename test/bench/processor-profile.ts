import { Session } from 'node:inspector/promises';

/** Where the processor's time went, in microseconds of each request, by package or folder. */
export type Shares = Record<string, number>;

interface Frame {
  url: string;
  functionName: string;
}

/** The package or the folder of `src` that a function is of; Node's own code by module, and what has no code by its name. */
function groupOf({ url, functionName }: Frame): string {
  const ofPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (ofPackage) return ofPackage;
  const ofSource = /\/(src\/[^/]+)/.exec(url)?.[1];
  if (ofSource) return ofSource;
  if (url.startsWith('node:')) return url.replace(/^(node:(?:internal\/)?[^/]+).*/, '$1');
  return url === '' ? functionName || '(native)' : '(bench)';
}

/** A profile of this process while `work` runs: it makes that slower by a tenth or so. */
export async function profileOf(requests: number, work: () => Promise<unknown>): Promise<Shares> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 200 });
    await session.post('Profiler.start');
    await work();
    const { profile } = await session.post('Profiler.stop');
    const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, groupOf(callFrame)]));
    const shares: Shares = {};
    for (const [index, id] of (profile.samples ?? []).entries()) {
      const group = frames.get(id) ?? '(unknown)';
      shares[group] = (shares[group] ?? 0) + (profile.timeDeltas?.[index] ?? 0) / requests;
    }
    const known = Object.entries(shares).filter(([group, us]) => group !== '(idle)' && us >= 1);
    return Object.fromEntries(known.sort(([, a], [, b]) => b - a).map(([group, us]) => [group, Math.round(us)]));
  } finally {
    session.disconnect();
  }
}

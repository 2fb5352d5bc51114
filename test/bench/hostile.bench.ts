import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { call } from '../e2e/support';
import { hostileRequests } from '../hostile-requests';
import { api, stack } from '../stack/client';
import { pids } from '../stack/pause';
import { load, residentMb } from './load';
import { processorMs } from './postgres-processor';

/**
 * How long ordinary requests take beside connections that do what they should not, and beside silent ones; the same requests without them, in
 * the same run, before and after. Numbers are printed and not judged, since machines are noisy.
 */
const ordinary = { count: 600, inFlight: 4 };
const loud = 50;
/** As many as are asked for, or as the limit of open files leaves to the process that opens them (`ulimit -n`, which nothing here raises). */
const silent = Math.min(10_000, openFiles() - 300);

function openFiles(): number {
  const [, soft = ''] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return soft === '' ? Infinity : Number(soft);
}

/** With the API's processor time for each ordinary request, whatever else it did meanwhile. */
async function measure() {
  const used = () => pids('api').reduce((sum, pid) => sum + processorMs(pid), 0);
  const before = used();
  const times = await load(ordinary.count, ordinary.inFlight, askAs200);
  return { ...times, api_processor_ms: Math.round(((used() - before) * 100) / ordinary.count) / 100 };
}

async function askAs200(): Promise<void> {
  const { status } = await call('GET', '/transactions?page_size=10');
  if (status !== 200) throw new Error(`answered ${status}`);
}

async function beside(connections: { loud: number; silent: number }) {
  const requests = hostileRequests(await api().accessToken()).map(({ request }) => request);
  const child = spawn(process.execPath, [path.join(__dirname, 'hostile.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    child.stdin.write(`${JSON.stringify({ port: Number(new URL(stack().base_url).port), requests, ...connections })}\n`);
    await once(child.stdout, 'data', { signal: AbortSignal.timeout(60_000) });
    return await measure();
  } finally {
    child.stdin.end();
    await once(child, 'exit');
  }
}

test('ordinary requests beside hostile connections', async () => {
  await measure();
  const baseline = await measure();
  const besideLoud = await beside({ loud, silent: 0 });
  const besideSilent = await beside({ loud: 0, silent });
  const numbers = {
    ...{ requests: ordinary.count, in_flight: ordinary.inFlight, open_files: openFiles() },
    baseline_ms: baseline,
    hostile: { connections: loud, ordinary_ms: besideLoud },
    silent: { connections: silent, ordinary_ms: besideSilent },
    baseline_after_ms: await measure(),
    resident_mb: pids('api').map(residentMb),
  };
  process.stdout.write(`${JSON.stringify({ bench: 'hostile', ...numbers })}\n`);
}, 600_000);

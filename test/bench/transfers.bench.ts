import { execFileSync } from 'node:child_process';
import { call, ends, fundedAccount, transactionWhen } from '../e2e/support';
import { stack } from '../stack/client';

/** Loads are bounded in count; numbers are printed, not judged: machines are noisy. The baseline is in the same run. */
const requests = 60;
const inFlight = 10;
const recipient = '0x000000000000000000000000000000000000bEEF';

test('accepting and finishing transfers', async () => {
  const account = await fundedAccount('ethereum', { ETH: '100' });
  const body = { from_address: account.address, to_address: recipient, chain: 'ethereum', token_symbol: 'ETH', amount: '0.001' };
  await load(inFlight, () => call('GET', '/wallets'));

  const baseline = await load(requests, () => call('GET', '/wallets?page_size=1'));
  const txIds: string[] = [];
  const began = performance.now();
  const accept = await load(requests, async () => {
    const answer = await call('POST', '/transfer', { body });
    if (answer.status !== 202) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    txIds.push(answer.body.tx_id as string);
  });
  for (const id of txIds) await transactionWhen(id, ends, 300_000);
  const seconds = (performance.now() - began) / 1000;

  process.stdout.write(
    `${JSON.stringify({
      bench: 'transfers',
      requests,
      in_flight: inFlight,
      baseline_get_wallets_ms: baseline,
      accept_ms: accept,
      accept_to_baseline_p50: round(accept.p50 / baseline.p50),
      confirmed_per_second: round(txIds.length / seconds),
      resident_mb: Object.fromEntries(['api', 'worker', 'mpc'].map((name) => [name, stack().processes[name]?.map(residentMb)])),
    })}\n`,
  );
}, 600_000);

async function load(count: number, run: () => Promise<unknown>) {
  const times: number[] = [];
  let left = count;
  const began = performance.now();
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      const start = performance.now();
      await run();
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  times.sort((a, b) => a - b);
  const at = (share: number) => round(times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0);
  return { p50: at(0.5), p99: at(0.99), rate_per_second: round((count * 1000) / (performance.now() - began)) };
}

function residentMb(pid: number): number {
  return Math.round(Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString()) / 1024);
}

const round = (value: number) => Math.round(value * 10) / 10;

import { randomAddress } from '../factories';
import { stack } from '../stack/client';
import { call, ends, fundedAccount, transactionWhen, type Account } from '../e2e/support';
import { load, percentiles, residentMb, round } from './load';

/**
 * How long POST /transfer takes: one at a time on an idle stack, 100 requests at once, and 1,000 transfers at 50 at a time.
 * Loads are bounded in count; numbers are printed and not judged, since machines are noisy. GET /wallets in the same run is the baseline.
 */
const idleRequests = 15;
const concurrentRequests = { count: 200, inFlight: 100 };
const burst = { count: Number(process.env.BENCH_BURST ?? 1_000), inFlight: 50 };

let account: Account;
const transfer = (): Parameters<typeof call> => [
  'POST',
  '/transfer',
  {
    body: {
      from_address: account.address,
      to_address: randomAddress(),
      chain: 'ethereum',
      token_symbol: 'ETH',
      amount: '0.0001',
    },
  },
];

beforeAll(async () => {
  account = await fundedAccount('ethereum', { ETH: '900' });
}, 300_000);

test('accepting transfers', async () => {
  await load(20, 10, () => call('GET', '/wallets'));
  const baseline = await load(200, 10, () => call('GET', '/wallets?page_size=1'));

  const idle: number[] = [];
  for (let request = 0; request < idleRequests; request += 1) {
    const began = performance.now();
    const answer = await call(...transfer());
    idle.push(performance.now() - began);
    await transactionWhen(answer.body.tx_id as string, ends, 120_000);
  }
  print('idle', { requests: idleRequests, in_flight: 1, baseline_get_wallets_ms: baseline, accept_ms: percentiles(idle) });

  for (const [name, { count, inFlight }] of Object.entries({ concurrent: concurrentRequests, burst })) {
    const txIds: string[] = [];
    const refused: Record<string, number> = {};
    const began = performance.now();
    const accept = await load(count, inFlight, async () => {
      const { status, body } = await call(...transfer());
      if (status === 202) txIds.push(body.tx_id as string);
      else refused[`${status} ${body.code}`] = (refused[`${status} ${body.code}`] ?? 0) + 1;
    });
    const acceptedSeconds = (performance.now() - began) / 1000;
    const states: Record<string, number> = {};
    for (const id of txIds) {
      const { status } = await transactionWhen(id, ends, 900_000);
      states[status] = (states[status] ?? 0) + 1;
    }
    print(name, {
      requests: count,
      in_flight: inFlight,
      accept_ms: accept,
      accepted: txIds.length,
      refused,
      states,
      accept_seconds: round(acceptedSeconds),
      ended_per_second: round(txIds.length / ((performance.now() - began) / 1000)),
      resident_mb: Object.fromEntries(['api', 'worker', 'mpc'].map((part) => [part, stack().processes[part]?.map(residentMb)])),
    });
  }
}, 1_800_000);

function print(scenario: string, numbers: object): void {
  process.stdout.write(`${JSON.stringify({ bench: 'accept', scenario, ...numbers })}\n`);
}

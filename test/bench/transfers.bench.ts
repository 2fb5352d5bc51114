import { call, ends, fundedAccount, transactionWhen } from '../e2e/support';
import { stack } from '../stack/client';
import { load, residentMb, round } from './load';

/** Loads are bounded in count; numbers are printed, not judged: machines are noisy. The baseline is in the same run. */
const requests = 60;
const inFlight = 10;
const recipient = '0x000000000000000000000000000000000000bEEF';

test('accepting and finishing transfers', async () => {
  const account = await fundedAccount('ethereum', { ETH: '100' });
  const body = { from_address: account.address, to_address: recipient, chain: 'ethereum', token_symbol: 'ETH', amount: '0.001' };
  await load(inFlight, inFlight, () => call('GET', '/wallets'));

  const baseline = await load(requests, inFlight, () => call('GET', '/wallets?page_size=1'));
  const txIds: string[] = [];
  const began = performance.now();
  const accept = await load(requests, inFlight, async () => {
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

import { api, createActiveWallet } from '../stack/client';
import type { Account } from '../e2e/support';
import { fundedAccounts, Transfers, withP95 } from './carry-out';
import { load, round } from './load';

/** Single transfers of one client, alone and while another one has many that wait for their start. */
const queued = Number(process.env.BENCH_QUEUED ?? 10_000);
const singles = Number(process.env.BENCH_SINGLES ?? 60);
/** Of each side before what counts. */
const warmUp = 10;
const acceptedAtOnce = 50;
/** What takes longer is not waited for: then clients do not take turns. */
const longestMs = 60_000;

async function oneByOne(transfers: Transfers, account: Account, count = singles) {
  const took: number[] = [];
  const ended: string[] = [];
  let late = 0;
  while (took.length < count && late === 0) {
    const began = performance.now();
    const txId = await transfers.submit(account, 'other');
    await transfers.end(txId, longestMs).then(
      () => ended.push(txId),
      () => (late += 1),
    );
    took.push(performance.now() - began);
  }
  return { ms: withP95(took), late, stages_ms: await transfers.stages(ended) };
}

test(`single transfers of a client beside ${queued} that wait`, async () => {
  const wallet = await createActiveWallet('other');
  const [account] = await fundedAccounts(1, wallet.wallet_id, 'other');
  const many = await fundedAccounts(4);
  const transfers = await Transfers.open();
  await oneByOne(transfers, account as Account, warmUp);
  const alone = await oneByOne(transfers, account as Account);

  const waiting: string[] = [];
  const accept = await load(queued, acceptedAtOnce, async () => {
    waiting.push(await transfers.submit(many[waiting.length % many.length] as Account));
  });
  const beside = await oneByOne(transfers, account as Account);
  process.stdout.write(
    `${JSON.stringify({
      ...{ bench: 'tenants', queued, singles, accept_queued: accept },
      ...{
        ms: beside.ms,
        stages_ms: beside.stages_ms,
        not_within_a_minute: beside.late,
        baseline_ms: alone.ms,
        baseline_stages_ms: alone.stages_ms,
        to_baseline_p95: round(beside.ms.p95 / alone.ms.p95),
      },
    })}\n`,
  );
  // whatever else runs on this stack must not wait for them; those that have begun end by themselves
  await load(waiting.length, acceptedAtOnce, () => api().request('POST', `/transactions/${waiting.pop()}/cancel`, { body: {} }));
  await transfers.close();
}, 1_500_000);

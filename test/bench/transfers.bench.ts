import { stack } from '../stack/client';
import { fundedAccounts, Transfers, withP95 } from './carry-out';
import { type BareRun, startBare } from './bare/bare';
import { residentMb, round } from './load';
import { processorMs } from './postgres-processor';
import { idleShare, measureProcessor, roundShares } from './stack-processor';

/**
 * Transfers until they are CONFIRMED, beside bare workflows of the same events on the same Temporal server, before and after them. Numbers are
 * printed and not judged, since machines are noisy.
 */
const inFlight = 100;
const count = Number(process.env.BENCH_TRANSFERS ?? 300);
const accountCount = 4;
/** What runs for the first time is slower. */
const warmUp = 20;

test(`${count} transfers, ${inFlight} in flight, and as many bare workflows`, async () => {
  const accounts = await fundedAccounts(accountCount);
  const transfers = await Transfers.open();
  const bare = startBare();
  try {
    await bare.run({ count: warmUp, inFlight: warmUp });
    await transfers.carryOut({ count: warmUp, inFlight: warmUp, accounts });
    const idle = await idleShare();
    const bareProcessor = async () => {
      const [used, ofWorker] = [measureProcessor(idle), processorMs(bare.pid)];
      const run = await bare.run({ count, inFlight });
      return { run, temporal: used(count).temporal, worker: round((processorMs(bare.pid) - ofWorker) / count) };
    };
    const before = await bareProcessor();
    const used = measureProcessor(idle);
    const carried = await transfers.carryOut({ count, inFlight, accounts });
    const cpu = used(count);
    const after = await bareProcessor();

    const bareRate = (2 * count) / (before.run.seconds + after.run.seconds);
    const { processes } = stack();
    process.stdout.write(
      `${JSON.stringify({
        ...{ bench: 'transfers', transfers: count, in_flight: inFlight, accounts: accountCount, ...carried },
        bare: {
          per_second: round(bareRate),
          per_second_before: perSecond(before.run),
          per_second_after: perSecond(after.run),
          end_ms: withP95([...before.run.ms, ...after.run.ms]),
          cpu_ms: { temporal: round((before.temporal + after.temporal) / 2), worker: round((before.worker + after.worker) / 2) },
        },
        ratio: Math.round((count / carried.seconds / bareRate) * 100) / 100,
        cpu_ms: cpu,
        idle_cpu_share: roundShares(idle),
        resident_mb: Object.fromEntries(
          ['api', 'worker', 'authoriser', 'mpc'].map((part) => [part, processes[part]?.map(residentMb)]),
        ),
      })}\n`,
    );
  } finally {
    bare.close();
    await transfers.close();
  }
}, 600_000);

const perSecond = ({ seconds }: BareRun): number => round(count / seconds);

import type { DataSource } from 'typeorm';
import { type CarriedOut, fundedAccounts, Transfers } from './carry-out';
import { insertEnded, openAsSuperuser, readSoFar } from './grown';
import { round } from './load';
import { idleShare, measureProcessor, roundShares } from './stack-processor';

/** What a transfer costs when its account has few ended transactions, and when it has many: the same load at each size, in one run. */
const sizes = (process.env.BENCH_ROWS ?? '0,100000,1000000').split(',').map(Number);
const count = 100;
const inFlight = 20;
const idleMs = 10_000;

type Read = Awaited<ReturnType<typeof readSoFar>>;
const names = ['transactions', 'rows', 'blocks'] as const;
const each = (of: (name: (typeof names)[number]) => number): Read => ({
  transactions: of('transactions'),
  rows: of('rows'),
  blocks: of('blocks'),
});

interface Cost {
  carried: CarriedOut;
  cpu: ReturnType<ReturnType<typeof measureProcessor>>;
  idle: Awaited<ReturnType<typeof idleShare>>;
  read: Read;
  idleRead: Read;
}

/** Beyond what is done while nothing is sent. */
async function costOf(database: DataSource, run: () => Promise<CarriedOut>): Promise<Cost> {
  const before = await readSoFar(database);
  const idle = await idleShare();
  const rested = await readSoFar(database);
  const idleRead = each((name) => (rested[name] - before[name]) / idleMs);
  const used = measureProcessor(idle);
  const carried = await run();
  const cpu = used(count);
  const after = await readSoFar(database);
  const read = each((name) => round((after[name] - rested[name] - idleRead[name] * carried.seconds * 1_000) / count));
  return { carried, cpu, idle, read, idleRead: each((name) => round(idleRead[name] * 1_000)) };
}

test(`transfers of an account with ${sizes.join(', ')} ended transactions`, async () => {
  const accounts = await fundedAccounts(1);
  const [transfers, database] = [await Transfers.open(), await openAsSuperuser()];
  const run = () => transfers.carryOut({ count, inFlight, accounts });
  await run();
  const costs: Cost[] = [];
  let rows = 0;
  for (const size of sizes) {
    if (size > rows) await insertEnded(database, accounts[0]?.account_id as string, rows + 1, size);
    rows = Math.max(rows, size);
    // connections plan their statements anew
    await transfers.carryOut({ count: inFlight, inFlight, accounts });
    const cost = await costOf(database, run);
    costs.push(cost);
    const { carried, cpu, idle, read, idleRead } = cost;
    process.stdout.write(
      `${JSON.stringify({
        ...{
          bench: 'growth',
          ended_before: rows,
          transfers: count,
          in_flight: inFlight,
          end_ms: carried.end_ms,
          per_second: carried.per_second,
        },
        ...{
          accept_ms: carried.accept_ms,
          cpu_ms: cpu,
          read_a_transfer: read,
          idle_cpu_share: roundShares(idle),
          idle_read_a_second: idleRead,
        },
        to_none: {
          cpu: ratio(cost, costs, (of) => of.cpu.all),
          end_p50: ratio(cost, costs, (of) => of.carried.end_ms.p50),
          rows: ratio(cost, costs, (of) => of.read.rows),
        },
      })}\n`,
    );
  }
  await Promise.all([transfers.close(), database.destroy()]);
}, 900_000);

const ratio = (cost: Cost, [first = cost]: Cost[], of: (cost: Cost) => number): number =>
  Math.round((of(cost) / of(first)) * 100) / 100;

import { readdirSync, readFileSync } from 'node:fs';
import { Client } from 'pg';

/** Linux counts a process's time in hundredths of a second. */
const tickMs = 10;

/** Fields of /proc/<pid>/stat after the name, which may contain blanks (proc(5), from field 3 on); undefined once it has ended. */
function readStat(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ');
  } catch {
    return undefined;
  }
}

const at = (stat: string[] | undefined, field: number): number => Number(stat?.[field - 3] ?? 0);

/** Process id of the first process of the Postgres that tests use. */
export async function findPostgres(): Promise<number> {
  const client = new Client({ connectionString: process.env.TEST_POSTGRES_URL as string });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const postmaster = at(readStat(rows[0]?.pid as number), 4);
  await client.end();
  return postmaster;
}

/** Processor time of a process and its children, those that have ended included. */
export function processorMs(pid: number): number {
  const own = readStat(pid);
  const children = readdirSync('/proc')
    .map((name) => readStat(Number(name)))
    .filter((stat) => at(stat, 4) === pid);
  const ticks = [14, 15, 16, 17].map((field) => at(own, field));
  for (const stat of children) ticks.push(at(stat, 14), at(stat, 15));
  return ticks.reduce((sum, value) => sum + value, 0) * tickMs;
}

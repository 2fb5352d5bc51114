import { until } from '../../dev/processes';
import type { Containers } from './containers';

/** Sent before the first sizes are read: new tables and indexes grow by whole pages. */
const before = 100;
const waitMs = 20 * 60_000;

/**
 * With DEPLOY_TRANSFERS=<number>: makes as many transfers, until they are CONFIRMED, and prints by how much each database grows for one, with
 * its indexes, for the table in docs/deployment.md.
 * @param state of the shell that has made the first one
 */
export async function measureSizes(containers: Containers, shellImage: string, state: string, count: number): Promise<void> {
  const psql = (database: string, sql: string): Promise<string> => {
    const script = `PGPASSWORD=$(cat /run/secrets/password) exec psql -h 127.0.0.1 -U postgres -d ${database} -Atc "$0"`;
    return containers.runToEnd('postgres', ['sh', '-c', script, sql]);
  };
  const send = async (number: number): Promise<void> => {
    const transfer = `'{"from_address":"'$address'","to_address":"'$to'","chain":"ethereum","token_symbol":"USDC","amount":"0.01"}'`;
    const lines = [
      'to=0x000000000000000000000000000000000000dEaD',
      `for i in $(seq ${number}); do post /transfer ${transfer}; done`,
    ];
    await containers.shell('api', shellImage, [state, ...lines].join('\n'));
    const open = `select count(*) from transactions where status <> 'CONFIRMED'`;
    if (!(await until(async () => (await psql('gateway', open)).trim() === '0', waitMs, 2_000)))
      throw new Error(`not all transfers have ended as CONFIRMED within ${waitMs / 60_000} minutes`);
  };
  const sizes = async (): Promise<[string, number][]> => {
    const rows = await psql(
      'postgres',
      'select datname, pg_database_size(datname) from pg_database where not datistemplate order by 1',
    );
    return rows
      .trim()
      .split('\n')
      .map((row) => [row.split('|')[0] ?? '', Number(row.split('|')[1])]);
  };
  await send(before);
  const first = new Map(await sizes());
  await send(count);
  for (const [name, size] of await sizes())
    console.log(`     ${name}: ${Math.round((size - (first.get(name) ?? 0)) / count)} bytes for each of ${count} transfers`);
}

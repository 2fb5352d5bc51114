import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';
import { temporalServerConfig } from '../../../src/cli/setup/temporal-server';
import { variables } from '../../../src/platform/variables';
import { compose, composeText, words } from './compose-file';

/** The connections to Postgres that docs/deployment.md and docker-compose.yml count. */

const read = (file: string) => readFileSync(path.join(projectRoot, file), 'utf8');
const numberIn = (file: string, pattern: RegExp): number => Number(pattern.exec(read(file))?.[1]);
const { default: pool } = (variables.DATABASE_POOL_SIZE.schema.describe() as { flags: { default: number } }).flags;
const webhooks = numberIn('src/processes/webhook-worker.ts', /^const databasePoolSize = (\d+);$/m);
const metrics = numberIn('src/processes/read-metrics.ts', /createDatabase\(\{ url, poolSize: (\d+),/);
const node = numberIn('src/mpc/store.ts', /^const poolSize = (\d+);$/m);
const command = numberIn('src/cli/reconcile.ts', /poolSize: (\d+),/);
const temporal = [...temporalServerConfig('x').matchAll(/maxConns: (\d+)/g)].map(([, count]) => Number(count));
const ofTemporal = temporal.reduce((a, b) => a + b, 0);
const worker = pool + webhooks + metrics;

it('a process has no other pool than those that are counted', () => {
  const sources = ['api', 'authoriser', 'worker', 'webhook-worker', 'read-metrics'].map((name) => `src/processes/${name}.ts`);
  const pools = sources.map((file) => [path.basename(file, '.ts'), read(file).match(/createDatabase\(/g)?.length]);
  expect(pools).toEqual([
    ['api', 1],
    ['authoriser', 1],
    ['worker', 1],
    ['webhook-worker', 1],
    ['read-metrics', 1],
  ]);
});

it('docs/deployment.md has the numbers of the code', () => {
  const text = read('docs/deployment.md').replaceAll(/ +/g, ' ');
  for (const row of [
    `| API | \`DATABASE_POOL_SIZE\` (${pool}) |`,
    `| worker | \`DATABASE_POOL_SIZE\` (${pool}), and ${webhooks} for webhooks, ${metrics} for metrics |`,
    `| authoriser | \`DATABASE_POOL_SIZE\` (${pool}) |`,
    `| each node, at its own server | ${node},`,
    `| a command of \`gateway\` | 2; \`gateway reconcile\` ${command} |`,
    `| Temporal, as configured here | ${temporal.join(' and ')} |`,
  ])
    expect(text).toContain(row);
});

it('docker-compose.yml lets all connect that run there at once', () => {
  const replaced = 2 * pool + worker + ofTemporal;
  const all = replaced + 3 * node + command;
  expect(composeText).toContain(
    `api and authoriser ${pool} each, worker ${worker}, nodes ${node} each, Temporal ${ofTemporal}, commands ${command}: ${all}; ` +
      `${all + replaced} with a second one of each but the nodes\n`,
  );
  expect(read('docs/deployment.md')).toContain(`(${all}, then ${all + replaced})`);
  const postgres = compose.services.postgres;
  const allowed = Number(/max_connections=(\d+)/.exec(postgres ? words(postgres).join(' ') : '')?.[1]);
  // three are kept for superusers
  expect(allowed - 3).toBeGreaterThan(all + replaced);
});

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../dev/paths';
import type { Containers } from './containers';

const dump = '/tmp/gateway.dump';

/**
 * Restores the gateway's database from a dump with the commands of docs/deployment.md, while its processes are stopped. They are ready afterwards
 * only if the nodes' orders were compared with the database.
 */
export async function restoreGatewayDatabase(containers: Containers): Promise<void> {
  const [save, drop, load] = readScripts();
  const inPostgres = (script: string) => containers.runToEnd('postgres', ['sh', '-c', script, 'gateway']);
  await inPostgres(`${save} > ${dump}`);
  for (const name of ['api', 'worker', 'authoriser']) {
    const code = await containers.stop(name);
    if (code !== 0) throw new Error(`${name} ended with ${code}`);
  }
  await inPostgres(drop);
  await containers.runToEnd('databases');
  await inPostgres(`${load} < ${dump}`);
  await containers.runToEnd('migrate');
  // at once: the authoriser is ready when it has asked the nodes, which it does by a workflow
  await Promise.all(['authoriser', 'worker', 'api'].map((name) => containers.startHealthy(name)));
  const output = await containers.runToEnd('owner', ['reconcile']);
  if (!output.includes('(none)')) throw new Error(`owner reconcile shows something to rebuild:\n${output.slice(0, 1_000)}`);
}

function readScripts(): [string, string, string] {
  const text = readFileSync(path.join(projectRoot, 'docs/deployment.md'), 'utf8');
  const scripts = [...text.matchAll(/exec -T postgres sh -c '([^']+)'/g)].map(([, script = '']) => script);
  const [save, drop, load] = ['pg_dump', 'dropdb', 'pg_restore'].map((program) => scripts.find((it) => it.includes(program)));
  if (!save || !drop || !load) throw new Error('docs/deployment.md has no commands for a dump and its restore');
  return [save, drop, load];
}

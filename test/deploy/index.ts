import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { projectRoot } from '../../dev/paths';
import { readVariables, resolveCompose } from '../unit/deploy/resolve';
import { Buildah, deployCache } from './buildah';
import { Containers } from './containers';
import { buildTarget, keepImagesOfOthers, keepNodeImage } from './images';
import { Networks } from './networks';
import { isJob, startOrder } from './order';
import { assertPackageCounts } from './packages';
import { findMissing } from './tools';
import { makeFirstTransfer } from './transfer';

/** `npm run test:deploy`: builds the images and runs docker-compose.yml with try.env, without Docker. */

const missingToolsExitCode = 3;
/** Nothing that has to be run is in them: no image of them can be had without a registry of images. */
const leftOut = ['temporal-ui'];

const variables = readVariables(readFileSync(path.join(projectRoot, 'try.env'), 'utf8'));
const compose = resolveCompose(variables);
const services = compose.services;
const order = startOrder(services, (variables.COMPOSE_PROFILES ?? '').split(',')).filter((name) => !leftOut.includes(name));
const jobs = order.filter((name) => isJob(service(name)));
const daemons = order.filter((name) => !jobs.includes(name));

function service(name: string) {
  const found = services[name];
  if (!found) throw new Error(`docker-compose.yml has no service ${name}`);
  return found;
}

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const began = Date.now();
  const result = await work();
  console.log(`ok  ${String(Math.round((Date.now() - began) / 1000)).padStart(4)} s  ${name}`);
  return result;
}

async function main(folder: string, onCleanUp: (cleanUp: () => Promise<void>) => void): Promise<void> {
  mkdirSync(path.join(folder, 'logs'));
  const logFile = path.join(folder, 'logs', 'test.log');
  const buildah = new Buildah(logFile);
  const prefix = `gwdt${process.pid}`;
  const used = [...order, 'faucet'].map((name) => [name, service(name)] as const);

  const node = await step('a stand-in for the image of Node', () => keepNodeImage(buildah));
  await step('stand-ins for the images of Postgres and Temporal', () => keepImagesOfOthers(buildah, compose));
  const images: Record<string, string> = {};
  for (const { image, build } of Object.values(services)) if (build) images[build.target] = image;
  for (const [target, image] of Object.entries(images))
    await step(`image ${target}, from ${node}`, () => buildTarget(buildah, target, image));
  await step('numbers of packages are as docs/deployment.md says', () => assertPackageCounts(buildah, images));

  const networks = new Networks(prefix, Object.keys(compose.networks), used, logFile);
  const containers = new Containers(services, { buildah, networks, folder, prefix });
  onCleanUp(async () => {
    await containers.removeAll();
    await networks.remove();
  });
  await step('networks', () => networks.create());
  const volumes = path.join(folder, 'volumes');
  // as the engine does: each as soon as what it waits for is ready, so that the API becomes healthy once the nodes are
  const up = new Map<string, Promise<unknown>>();
  for (const name of order) {
    const earlier = Promise.all(Object.keys(service(name).depends_on ?? {}).map((other) => up.get(other) ?? Promise.resolve()));
    const start: () => Promise<unknown> = daemons.includes(name)
      ? () => step(`${name} is healthy`, () => containers.startHealthy(name))
      : () => step(`${name} ends`, () => containers.runToEnd(name));
    up.set(name, earlier.then(start));
  }
  await Promise.all(up.values());
  const secrets = hashSecrets(volumes);
  const transfer = await step('a transfer by the lines of README.md is CONFIRMED', () =>
    makeFirstTransfer(containers, service('postgres').image),
  );
  for (const name of jobs) await step(`${name} once more`, () => containers.runToEnd(name));
  if (hashSecrets(volumes) !== secrets) throw new Error('the second run of `setup` has changed what was there');
  for (const name of daemons)
    if (!(await containers.isHealthy(name))) throw new Error(`${name} is not healthy after the jobs have run again`);
  for (const name of [...daemons].reverse())
    await step(`${name} stops in time`, async () => {
      const code = await containers.stop(name);
      // Temporal and Anvil end with the number of the signal
      if (code !== 0 && code !== 143) throw new Error(`${name} ended with ${code}`);
    });
  for (const name of used.map(([name]) => name)) {
    const written = await containers.writtenFiles(name);
    if (written.length > 0) throw new Error(`${name} has written outside of its volumes: ${written.slice(0, 10).join(', ')}`);
  }
  console.log(`${transfer} was CONFIRMED; all services of docker-compose.yml have run but ${leftOut.join(', ')}`);
}

/** Of all files that `setup` has written. */
function hashSecrets(volumes: string): string {
  const hash = createHash('sha256');
  for (const volume of readdirSync(volumes)
    .filter((name) => name.startsWith('secrets-'))
    .sort())
    for (const name of readdirSync(path.join(volumes, volume)).sort())
      hash.update(`${volume}/${name}\0`).update(readFileSync(path.join(volumes, volume, name)));
  return hash.digest('hex');
}

async function runTest(): Promise<number> {
  const missing = findMissing();
  if (missing !== null) {
    console.error(`The deployment was not tested: ${missing}.`);
    return missingToolsExitCode;
  }
  mkdirSync(deployCache, { recursive: true });
  const folder = mkdtempSync(path.join(tmpdir(), 'custody-gateway-deploy-'));
  let cleanUp = (): Promise<void> => Promise.resolve();
  const failures: unknown[] = [];
  const interrupted = new Promise<never>((_resolve, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => reject(new Error(`ended by ${signal}`)));
  });
  await Promise.race([main(folder, (work) => (cleanUp = work)), interrupted]).catch((error: unknown) => failures.push(error));
  await cleanUp().catch((error: unknown) => failures.push(error));
  for (const failure of failures) console.error(failure instanceof Error ? failure.message : failure);
  if (failures.length === 0) rmSync(folder, { recursive: true, force: true });
  else if (existsSync(folder)) console.error(`What was written is in ${folder}`);
  return failures.length === 0 ? 0 : 1;
}

void runTest().then((code) => process.exit(code));

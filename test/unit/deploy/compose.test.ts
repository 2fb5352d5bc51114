import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../../dev/paths';
import { rpcUrlsVariable } from '../../../src/chains/config';
import { loadRegistry } from '../../../src/chains/registry';
import { getChains } from '../../../src/chains/registry/data';
import { setUpFiles } from '../../../src/cli/setup/deployment-files';
import { environmentExample } from '../../../src/platform/environment-example';
import { readConfig, type VariableName } from '../../../src/platform/config';
import { variables } from '../../../src/platform/variables';
import { compose, composeText, isOfRepository, mounts, secretFiles, type Service, services, words } from './compose-file';
import { resolveCompose } from './resolve';

const root = mkdtempSync(path.join(tmpdir(), 'compose-'));
beforeAll(() => setUpFiles({ root, environment: 'sandbox', registry: loadRegistry('sandbox', ['ethereum']) }));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const inProject = (name: string) => path.join(projectRoot, name);
const names = (test: (service: Service, name: string) => boolean): string[] =>
  services.filter(([name, service]) => test(service, name)).map(([name]) => name);
const get = (name: string): Service => compose.services[name] as Service;

/** As `group` of the variables names them; undefined for what is not of this repository. */
function processOf(service: Service): string | undefined {
  const [entry = ''] = words(service).filter((word) => /^dist\/src\/processes\//.test(word));
  if (entry) return path.basename(entry, '.js');
  return words(service).includes('bin/gateway.js') ? 'cli' : undefined;
}
const ofRepository = services.filter(([, service]) => isOfRepository(service));
const processes = ofRepository.filter(([, service]) => ![undefined, 'cli'].includes(processOf(service)));
/** The services for the commands of operators. */
const ofNodeOperators = ['mpc-1', 'mpc-2', 'mpc-3'];
const ofOperators = ['gateway', 'owner', ...ofNodeOperators];
const jobs = names(({ restart, profiles }) => restart === 'no' && !profiles);

const chainVariables = new Map(
  (['production', 'sandbox', 'local'] as const)
    .flatMap((environment) => getChains(environment))
    .map(({ name }) => [rpcUrlsVariable(name), name]),
);
const ofTemporal = [...environmentExample().matchAll(/^#?(TEMPORAL_\w+)=/gm)].map(([, name]) => name);

describe('every service of docker-compose.yml', () => {
  it.each(ofRepository)('%s runs what the repository has', (_name, service) => {
    for (const word of words(service)) {
      if (word.startsWith('dist/'))
        expect([word, existsSync(inProject(word.replace(/^dist\/(.*)\.js$/, '$1.ts')))]).toEqual([word, true]);
      else if (/^[\w./-]+\.c?js$/.test(word)) expect([word, existsSync(inProject(word))]).toEqual([word, true]);
    }
    for (const word of service.healthcheck?.test ?? []) if (word.endsWith('.cjs')) expect(existsSync(inProject(word))).toBe(true);
  });

  it.each(ofRepository.filter(([, service]) => processOf(service) !== undefined))(
    '%s gets variables that its process knows, and all that it requires',
    (name, service) => {
      const process = processOf(service) ?? '';
      // commands of a node's operator run with its environment
      const isKnownTo = (group: string): boolean => {
        const groups = ['all processes', process, ...(ofNodeOperators.includes(name) ? ['mpc-node'] : [])];
        return group.split(', ').some((it) => groups.includes(it));
      };
      const given = Object.keys(service.environment ?? {});
      const known = (variable: string): boolean => {
        if (chainVariables.has(variable) || ofTemporal.includes(variable)) return true;
        const inFile = variable.endsWith('_FILE');
        const found = variables[(inFile ? variable.slice(0, -'_FILE'.length) : variable) as keyof typeof variables];
        return found !== undefined && (!inFile || found.inFile) && isKnownTo(found.group);
      };
      expect(given.filter((variable) => !known(variable))).toEqual([]);
      if (process === 'cli') return;
      const required = Object.entries(variables).filter(
        ([, { group, schema }]) =>
          isKnownTo(group) && (schema.describe() as { flags?: { presence?: string } }).flags?.presence === 'required',
      );
      expect(required.map(([variable]) => variable).filter((it) => !given.includes(it) && !given.includes(`${it}_FILE`))).toEqual(
        [],
      );
    },
  );

  it.each(services)('%s reads secrets that the set-up writes for it, and cannot change them', (_name, service) => {
    for (const file of secretFiles(service)) expect([file, existsSync(path.join(root, file))]).toEqual([file, true]);
    if (service === get('setup')) return;
    for (const { volume, isReadOnly } of mounts(service))
      if (volume.startsWith('secrets-')) expect([volume, isReadOnly]).toEqual([volume, true]);
  });

  it.each(services)('%s has no more rights than it needs', (name, service) => {
    expect(service.read_only).toBe(true);
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
    expect(service.mem_limit).toMatch(/^\d+[mg]$/);
    expect(service.pids_limit).toBeGreaterThan(0);
    expect(service.user).toMatch(name === 'setup' ? /^0:0$/ : /^[1-9]\d*:[1-9]\d*$/);
    expect(service.cap_add ?? []).toEqual(name === 'setup' ? ['CHOWN', 'DAC_OVERRIDE', 'FOWNER'] : []);
    const isOurs = isOfRepository(service);
    expect(service.image).toMatch(
      isOurs ? /^custody-gateway[\w-]*:\$\{GATEWAY_VERSION:-local\}$/ : /:\d+\.\d+[\w.-]*(@sha256:[0-9a-f]{64})?$/,
    );
    // one that nobody has published must not be looked for, where somebody else could publish it
    expect([service.image, service.pull_policy]).toEqual([service.image, isOurs ? 'never' : undefined]);
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it.each(services)(
    '%s waits for services that there are, and that say when they are ready',
    (_name, { depends_on = {}, ...service }) => {
      for (const [other, { condition }] of Object.entries(depends_on)) {
        const isJob = jobs.includes(other);
        expect([other, condition]).toEqual([other, isJob ? 'service_completed_successfully' : 'service_healthy']);
        if (!isJob) expect(get(other).healthcheck).toBeDefined();
      }
      for (const network of service.networks ?? []) expect(compose.networks).toHaveProperty([network]);
      for (const { volume } of mounts(service)) expect(compose.volumes).toHaveProperty([volume]);
      if (service.restart !== 'no') expect(service.healthcheck).toBeDefined();
    },
  );
});

it('builds each image once, in a service that is there whenever others use it', () => {
  // several that build the same image at once cannot all give it its name: https://github.com/docker/buildx/issues/3576
  const builders = services.filter(([, { build }]) => build !== undefined);
  expect(builders.map(([name, { image, build }]) => [image.split(':')[0], name, build])).toEqual([
    ['custody-gateway', 'setup', { context: '.', target: 'gateway' }],
    ['custody-gateway-mpc-node', 'mpc-node-1', { context: '.', target: 'mpc-node' }],
    ['custody-gateway-try', 'chain-ethereum', { context: '.', target: 'try' }],
  ]);
  for (const [name, { image, profiles }] of ofRepository) {
    const [, builder] = builders.find(([, it]) => it.image === image) ?? [];
    // those of operators, and the tools of a trial, run after `up`
    const isAlone = profiles?.some((it) => ['operators', 'try-tools'].includes(it));
    expect([name, isAlone ? undefined : profiles]).toEqual([name, isAlone ? undefined : builder?.profiles]);
  }
});

it.each(['setup files', 'setup databases', 'migrate', 'temporal setup'])(
  'gateway %s is a command, with the options it is given',
  async (name) => {
    const service = Object.values(compose.services).find((it) => words(it).join(' ').includes(`bin/gateway.js ${name}`));
    const { stdout } = await promisify(execFile)(process.execPath, [inProject('bin/gateway.js'), ...name.split(' '), '--help']);
    const options = words(service as Service).filter((word) => word.startsWith('--'));
    expect(service).toBeDefined();
    expect(stdout).toContain(`gateway ${name}`);
    for (const option of options) expect(stdout).toContain(`${option} `);
  },
);

it('the first client is told the port at which the machine publishes the API', () => {
  for (const [variables, port] of [
    [{}, '8080'],
    [{ API_PORT: '18080' }, '18080'],
  ] as const) {
    const { api, 'first-client': client } = resolveCompose(variables).services;
    expect(api?.ports).toEqual([`127.0.0.1:${port}:8080`]);
    expect(client?.command?.at(-1)).toBe(port);
  }
});

describe('secrets', () => {
  /** Beside the set-up, and the process that the volume is named after. */
  const others: Record<string, string[]> = {
    operator: ['gateway', 'owner', 'temporal-setup', 'first-client'],
    migrate: ['owner', 'first-client'],
    ...Object.fromEntries([1, 2, 3].map((node) => [`mpc-node-${node}`, [`mpc-${node}`]])),
  };

  it('of a process are mounted by no other one', () => {
    for (const volume of Object.keys(compose.volumes).filter((it) => it.startsWith('secrets-'))) {
      const owner = volume.slice('secrets-'.length);
      const users = names((service) => mounts(service).some((mount) => mount.volume === volume));
      expect([volume, users.filter((user) => !['setup', owner, ...(others[owner] ?? [])].includes(user))]).toEqual([volume, []]);
      expect(users.length).toBeGreaterThan(1);
    }
    expect(names((service) => mounts(service).some(({ volume }) => volume === 'setup'))).toEqual(['setup']);
  });

  it('have a volume for each folder that the set-up writes, and no other file', () => {
    const folders = [...new Set(mounts(get('setup')).map(({ at }) => at.replace('/secrets/', '')))].sort();
    const written = readdirSync(root).sort();
    expect(folders).toEqual(written);
    expect(composeText).not.toMatch(/\.\/secrets|^secrets:/m);
  });

  it('the server of Temporal finds the files that its configuration names', () => {
    const named = readFileSync(path.join(root, 'temporal/server.yaml'), 'utf8').match(/\/run\/secrets\/\w+/g) ?? [];
    expect(named.length).toBeGreaterThan(10);
    for (const file of named) expect([file, existsSync(path.join(root, 'temporal', path.basename(file)))]).toEqual([file, true]);
    expect(mounts(get('temporal'))).toEqual([{ volume: 'secrets-temporal', at: '/run/secrets', isReadOnly: true }]);
  });
});

describe('networks', () => {
  it('reach Postgres, Temporal and the signing nodes from nowhere but the inside', () => {
    for (const name of ['postgres', 'temporal', 'databases', 'migrate']) expect(get(name).networks).toEqual(['core']);
    expect(get('authoriser').networks).toEqual(['core', 'telemetry']);
    for (const network of ['core', 'mpc', 'telemetry']) expect(compose.networks[network]).toEqual({ internal: true });
    expect(names(({ networks = [] }) => networks.includes('mpc'))).toEqual([
      ...['mpc-node-1', 'mpc-node-2', 'mpc-node-3'],
      ...ofNodeOperators,
    ]);
    expect(names(({ ports }) => ports !== undefined)).toEqual(['temporal-ui', 'api']);
    expect(get('setup').network_mode).toBe('none');
  });

  it('have one from which the processes are reached, and nothing else', () => {
    expect(names(({ networks = [] }) => networks.includes('telemetry'))).toEqual(processes.map(([name]) => name));
  });
});

describe('traces', () => {
  /** One for all processes would give all of them the same name. */
  const leftOut = ['OTEL_SERVICE_NAME'];
  const ofTraces = Object.keys(variables).filter((name) => /^OTEL_/.test(name) && !leftOut.includes(name));
  const given = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.05',
    API_TRUST_TRACEPARENT: 'true',
  };

  it.each(processes)('of %s are configured by the variables of the whole, and off without them', (name, { environment = {} }) => {
    for (const variable of ofTraces) expect([variable, environment[variable]]).toEqual([variable, `\${${variable}:-}`]);
    const read = (values: Record<string, string>) =>
      readConfig(ofTraces as VariableName[], resolveCompose(values).services[name]?.environment) as Record<string, unknown>;
    expect(read({})).toMatchObject({ OTEL_EXPORTER_OTLP_ENDPOINT: undefined, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: undefined });
    expect(read(given)).toMatchObject({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_TRACES_SAMPLER_ARG: 0.05 });
    expect(environment).not.toHaveProperty('OTEL_SERVICE_NAME');
    expect('API_TRUST_TRACEPARENT' in environment).toBe(name === 'api');
  });

  it('are of processes alone: jobs and commands export none', () => {
    const others = services.filter(([name]) => !processes.some(([process]) => process === name));
    for (const [name, { environment = {} }] of others)
      expect([name, Object.keys(environment).filter((variable) => variable.startsWith('OTEL_'))]).toEqual([name, []]);
  });
});

describe('the commands of operators', () => {
  /** The variables that `src/cli` reads for them, beside those of Temporal and of chains. */
  const read: Record<string, string[]> = {
    gateway: [
      ...['DATABASE_URL', 'GATEWAY_ENV', 'CHAINS', 'GATEWAY_OPERATOR', 'MPC_NODE_PEER_CERTS', 'ORDER_KEYS'],
      ...['TOTP_SECRETS_KEY', 'WEBHOOK_SECRETS_KEY', 'TEMPORAL_DEPLOYMENT_NAME'],
    ],
    owner: [
      ...['DATABASE_OWNER_URL', 'GATEWAY_ENV', 'CHAINS', 'GATEWAY_OPERATOR'],
      ...['ORDER_KEYS', 'DEPLOYMENT_ID', 'MPC_NODE_PEER_CERTS'],
    ],
    ...Object.fromEntries(
      ofNodeOperators.map((name) => [
        name,
        [
          ...['MPC_NODE_DATABASE_URL', 'GATEWAY_ENV', 'CHAINS', 'GATEWAY_OPERATOR', 'MPC_NODE_LIMITS'],
          ...[
            'MPC_NODE_INDEX',
            'MPC_NODE_TLS_KEY',
            'MPC_NODE_TLS_CERT',
            'MPC_NODE_TLS_CA',
            'MPC_NODE_PEER_CERTS',
            'MPC_NODE_PEERS',
          ],
          ...['MPC_NODE_ORDER_KEYS', 'MPC_NODE_DEPLOYMENT', 'MPC_NODE_KEK'],
        ],
      ]),
    ),
  };
  /** Read by `src/cli`, and given to no service: what is set while a key or an identity is replaced (docs/keys.md). */
  const ofReplacements = ['MPC_NODE_FORMER_CERTS'];
  const given = (name: string): string[] => Object.keys(get(name).environment ?? {}).map((it) => it.replace(/_FILE$/, ''));

  it('have a service each that starts with no other service, and that `docker compose up` does not start', () => {
    expect(names(({ profiles = [] }) => profiles.includes('operators'))).toEqual(ofOperators);
    for (const name of ofOperators) {
      expect(get(name).entrypoint).toEqual(['node', 'bin/gateway.js']);
      expect(get(name).profiles).toEqual(['operators']);
      expect(get(name).depends_on).toBeUndefined();
    }
  });

  it.each(ofOperators)('have all variables that they read: %s', (name) => {
    expect((read[name] ?? []).filter((variable) => !given(name).includes(variable))).toEqual([]);
    if (ofNodeOperators.includes(name)) return;
    for (const variable of ['TEMPORAL_ADDRESS', ...chainVariables.keys()]) expect(given(name)).toContain(variable);
  });

  it('read no other variables', () => {
    const folder = inProject('src/cli');
    const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
    const text = files.map((file) => readFileSync(path.join(folder, file), 'utf8')).join('\n');
    const found = Object.keys(variables).filter((variable) => text.includes(`'${variable}'`));
    const known = [...Object.values(read).flat(), ...ofReplacements];
    expect(found.length).toBeGreaterThan(10);
    expect(found.filter((variable) => !known.includes(variable))).toEqual([]);
  });

  it.each([1, 2, 3])('of the operator of node %i have what the node has', (node) => {
    const own = get(`mpc-node-${node}`).environment ?? {};
    for (const [variable, value] of Object.entries(get(`mpc-${node}`).environment ?? {}))
      if (variable !== 'GATEWAY_OPERATOR') expect([variable, value]).toEqual([variable, own[variable]]);
    expect(mounts(get(`mpc-${node}`))).toEqual(mounts(get(`mpc-node-${node}`)).filter(({ isReadOnly }) => isReadOnly));
  });
});

it('what runs for long restarts when it ends, until somebody stops it, and jobs do not', () => {
  const ofTry = ['first-client', 'faucet'];
  const jobsOfStart = ['setup', 'databases', 'migrate', 'temporal-schema', 'temporal-setup'];
  expect(names(({ restart }) => restart === 'no').sort()).toEqual([...jobsOfStart, ...ofOperators, ...ofTry].sort());
  expect(names(({ restart }) => restart === 'unless-stopped')).toEqual([
    ...['postgres', 'temporal', 'temporal-ui', ...processes.map(([name]) => name), 'chain-ethereum', 'chain-base'],
  ]);
  // those that have something to finish get more than the 10 s of the engine
  for (const name of ['postgres', 'temporal']) expect(get(name).stop_grace_period).toBe('60s');
});

it('without the profile `try`, addresses of chains are asked for in one sentence that names all variables', async () => {
  const { command = [], environment } = resolveCompose({ CHAINS: 'ethereum,base,bitcoin' }).services.setup as Service;
  const [program, ...args] = command.map((word) => (word === '/secrets' ? path.join(root, 'none') : word));
  const env = { PATH: process.env.PATH, ...environment };
  const refused = (await promisify(execFile)(program ?? '', args, { cwd: projectRoot, env }).catch(
    (error: unknown) => error,
  )) as {
    code: number;
    stdout: string;
    stderr: string;
  };
  expect(refused).toMatchObject({ code: 78, stdout: '' });
  expect(refused.stderr).toBe(
    'gateway: CHAIN_ETHEREUM_RPC_URLS and CHAIN_BASE_RPC_URLS and CHAIN_BITCOIN_RPC_URLS are required: RPC urls of ethereum and base and bitcoin, separated by commas\n',
  );
  expect(existsSync(path.join(root, 'none'))).toBe(false);
});

/** The longest time in a file of the source that is named by one of these words. */
function secondsOf(file: string, names: string): number {
  const source = readFileSync(inProject(`src/${file}.ts`), 'utf8');
  const found = [...source.matchAll(new RegExp(`\\b(?:${names})(?:: | = )(?:'(\\d+) seconds'|([\\d_]+))[,;]`, 'g'))].map(
    ([, seconds, ms = '']) => (seconds === undefined ? Number(ms.replaceAll('_', '')) / 1_000 : Number(seconds)),
  );
  if (found.length === 0) throw new Error(`${file} has none of ${names}`);
  return Math.max(...found);
}

it('processes get longer to stop than they take, in seconds', () => {
  const times = 'shutdownGraceTime|shutdownForceTime';
  const [delivery, activity] = [secondsOf('processes/webhook-worker', times), secondsOf('processes/worker', times)];
  // with some for what is closed afterwards
  const drains: Record<string, number> = {
    api: secondsOf('http/server', 'drain') + 10,
    worker: Math.max(delivery, activity) + 10,
    authoriser: secondsOf('processes/authoriser', times) + 10,
    'mpc-node': Math.max(secondsOf('mpc/node', 'closingGraceMs'), secondsOf('processes/mpc-node', times)) + 10,
  };
  for (const [name, service] of processes) {
    const seconds = Number(/^(\d+)s$/.exec(service.stop_grace_period ?? '')?.[1]);
    expect([name, seconds > (drains[processOf(service) ?? ''] ?? Infinity)]).toEqual([name, true]);
  }
  expect(processes.map(([name]) => name)).toEqual(['api', 'worker', 'authoriser', 'mpc-node-1', 'mpc-node-2', 'mpc-node-3']);
});

it('endpoints of every chain can be given, and the set-up asks for them', () => {
  for (const name of ['setup', 'api', 'worker'])
    for (const variable of chainVariables.keys()) expect(get(name).environment).toHaveProperty([variable]);
});

it('a pool of keys can be switched off in .env, in both processes that read its size', () => {
  const { schema } = variables.KEY_POOL_SIZE;
  const { default: size } = (schema.describe() as { flags: { default: number } }).flags;
  const readers = processes.filter(([, service]) => variables.KEY_POOL_SIZE.group.split(', ').includes(processOf(service) ?? ''));
  expect(readers.map(([name]) => name)).toEqual(['worker', 'authoriser']);
  for (const [name, given] of [
    ['without', {}],
    ['with 0', { KEY_POOL_SIZE: '0' }],
  ] as const) {
    const resolved = resolveCompose(given).services;
    const sizes = readers.map(([reader]) => resolved[reader]?.environment?.KEY_POOL_SIZE);
    expect([name, sizes]).toEqual([name, name === 'without' ? [`${size}`, `${size}`] : ['0', '0']]);
  }
});

it('the images of Postgres and Node are pinned by digest, the same one wherever they are named', () => {
  const dockerfile = readFileSync(inProject('Dockerfile'), 'utf8');
  for (const [text, name, times] of [
    [composeText, 'postgres', 1],
    [dockerfile, 'node', 4],
  ] as const) {
    const named = [...text.matchAll(new RegExp(`(?:image: |FROM )(${name}:\\S+)`, 'g'))].map(([, image]) => image);
    expect(named).toHaveLength(times);
    for (const image of named) expect(image).toMatch(/:\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}$/);
    expect(new Set(named).size).toBe(1);
  }
});

it('what try.env sets is read by the file', () => {
  const set = readFileSync(inProject('try.env'), 'utf8').match(/^\w+(?==)/gm) ?? [];
  for (const name of set.filter((it) => it !== 'COMPOSE_PROFILES')) expect(composeText).toContain(`\${${name}:-`);
});

it('images are built from files that there are, and that the context has', () => {
  const dockerfile = readFileSync(inProject('Dockerfile'), 'utf8');
  const stages = [...dockerfile.matchAll(/^FROM \S+ AS (\S+)/gm)].map(([, stage]) => stage);
  for (const [, { build }] of services) if (build) expect(stages).toContain(build.target);
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) => sources.split(' '));
  const ignored = readFileSync(inProject('.dockerignore'), 'utf8').trim().split('\n');
  expect(copied.length).toBeGreaterThan(10);
  for (const source of copied) {
    expect([source, existsSync(inProject(source))]).toEqual([source, true]);
    expect(ignored.filter((entry) => source === entry || source.startsWith(`${entry}/`))).toEqual([]);
  }
});

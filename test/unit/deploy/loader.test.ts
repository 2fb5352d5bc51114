import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { findBuiltComposeLoader } from '../../../dev/compose-loader';
import { projectRoot } from '../../../dev/paths';
import { yamlBlocks } from '../documents/shell-blocks';
import { type ComposeFile, composeText, type Service } from './compose-file';
import { type Loaded, loadCompose, type Project } from './load-compose';
import { readVariables, resolveCompose } from './resolve';

/**
 * docker-compose.yml, and what the documents add to it, by the library that Docker Compose itself loads them with (dev/compose-loader): it
 * validates them against the schema of the Compose Specification, replaces variables, merges files, and follows what services refer to.
 */

const tryFile = path.join(projectRoot, 'try.env');
const variants = [
  ['without variables', null],
  ['with try.env', tryFile],
] as const;

let folder: string;
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), 'loader-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const program = findBuiltComposeLoader();

/** @param overrides are merged into it, in their order @throws Error with the sentence of the loader */
async function load(
  text: string,
  { envFile, overrides = [] }: { envFile?: string | null; overrides?: string[] } = {},
): Promise<Project> {
  const files = [text, ...overrides].map((content, index) => {
    const file = path.join(folder, `${index}.yml`);
    writeFileSync(file, content);
    return file;
  });
  return loadCompose(program ?? '', files, { cwd: folder, envFile });
}

/** Files that a document adds to docker-compose.yml: code in YAML that has services. */
const overrides = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'ARCHITECTURE.md'],
  ...readdirSync(path.join(projectRoot, 'docs'), { recursive: true, encoding: 'utf8' }).map((file) => path.join('docs', file)),
]
  .filter((file) => file.endsWith('.md'))
  .flatMap((document) =>
    yamlBlocks(document)
      .filter(({ code }) => /^services:/m.test(code))
      .map(({ section, code }) => ({ name: `${document}, ${section}`, code })),
  );

/** Both in one form. Durations in seconds, memory in bytes. */
const seconds = (text: string): number =>
  [...text.matchAll(/(\d+)([hms])/g)].reduce(
    (sum, [, amount, unit = 's']) => sum + Number(amount) * ({ h: 3600, m: 60 }[unit] ?? 1),
    0,
  );
const bytes = (text: string): number => Number.parseInt(text, 10) * ({ k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }[text.slice(-1)] ?? 1);
const durations = (values: Record<string, unknown> = {}) =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      typeof value === 'string' && /^[\dhms]+$/.test(value) ? seconds(value) : value,
    ]),
  );
const compared = (service: Service | Loaded) => {
  const { build, mem_limit, stop_grace_period, healthcheck, environment = {}, depends_on = {}, ...rest } = service;
  const { networks = [], volumes = [], ports = [], command, entrypoint } = service;
  return {
    ...rest,
    command: command ?? null,
    entrypoint: entrypoint ?? null,
    build: build?.target,
    environment: Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, String(value)])),
    networks: (Array.isArray(networks) ? networks : Object.keys(networks)).toSorted(),
    depends_on: Object.fromEntries(Object.entries(depends_on).map(([name, { condition }]) => [name, condition])),
    volumes: volumes.map((it) => (typeof it === 'string' ? it : `${it.source}:${it.target}${it.read_only ? ':ro' : ''}`)),
    ports: ports.map((it) => (typeof it === 'string' ? it : `${it.host_ip}:${it.published}:${it.target}`)),
    mem_limit: bytes(mem_limit),
    stop_grace_period: stop_grace_period === undefined ? undefined : seconds(stop_grace_period),
    healthcheck: durations(healthcheck),
    shm_size: 'shm_size' in service ? bytes(String(service.shm_size)) : undefined,
  };
};

(program ? describe : describe.skip)('the loader of Docker Compose (skipped where it could not be built with Go)', () => {
  it.each(variants)('makes of docker-compose.yml what the tests read: %s', async (_name, envFile) => {
    const theirs = await load(composeText, { envFile });
    const ours: ComposeFile = resolveCompose(envFile ? readVariables(readFileSync(envFile, 'utf8')) : {});
    for (const [name, service] of Object.entries(ours.services))
      expect([name, compared(theirs.services[name] as Loaded)]).toEqual([name, compared(service)]);
    expect(Object.keys(theirs.services).sort()).toEqual(Object.keys(ours.services).sort());
    expect(Object.keys(theirs.volumes).sort()).toEqual(Object.keys(ours.volumes).sort());
    const internal = (networks: Record<string, unknown>) =>
      Object.entries(networks as Project['networks'])
        .map(([name, network]) => [name, network.internal ?? false])
        .sort();
    expect(internal(theirs.networks)).toEqual(internal(ours.networks));
  });

  describe.each(overrides)('with the file of $name', ({ code }) => {
    it.each(variants)('takes it: %s', async (_name, envFile) => {
      const [base, merged] = [await load(composeText, { envFile }), await load(composeText, { envFile, overrides: [code] })];
      const { services } = parse(code) as { services: Record<string, Partial<Service>> };
      expect(Object.keys(merged.services).sort()).toEqual(
        [...new Set([...Object.keys(base.services), ...Object.keys(services)])].sort(),
      );
      for (const [name, { environment = {}, volumes = [], networks = [] }] of Object.entries(services)) {
        // what it adds is there, beside what there was
        expect(merged.services[name]?.environment ?? {}).toMatchObject({ ...base.services[name]?.environment, ...environment });
        const targets = [
          ...(base.services[name]?.volumes?.map(({ target }) => target) ?? []),
          ...volumes.map((it) => it.split(':')[1]),
        ];
        expect(merged.services[name]?.volumes?.map(({ target }) => target).sort()).toEqual(targets.sort());
        expect(Object.keys(merged.services[name]?.networks ?? {})).toEqual(expect.arrayContaining(networks));
      }
    });

    it.each([
      [
        'a key that there is not',
        / {4}(volumes|networks|image):/,
        '    $1s:',
        /services\.[\w-]+\.(volumes|networks|image)s false schema/,
      ],
      [
        'a service without an image',
        /^services:\n/,
        'services:\n  other: { restart: always }\n',
        /neither an image nor a build context/,
      ],
    ])('refuses %s in it', async (_what, pattern, replacement, message) => {
      const changed = code.replace(pattern, replacement);
      expect(changed).not.toBe(code);
      await expect(load(composeText, { overrides: [changed] })).rejects.toThrow(message);
    });
  });

  it.each(variants)('takes all files of the documents one after another: %s', async (_name, envFile) => {
    const merged = await load(composeText, { envFile, overrides: overrides.map(({ code }) => code) });
    for (const { code } of overrides)
      for (const [name, { environment = {} }] of Object.entries(
        (parse(code) as { services: Record<string, Partial<Service>> }).services,
      ))
        expect(merged.services[name]?.environment ?? {}).toMatchObject(environment);
  });

  it('finds the files of the documents', () => expect(overrides.length).toBeGreaterThan(0));

  it.each([
    ['a misspelt key', 'tmpfs: [/tmp]\n', 'tmpfss: [/tmp]\n', /services\.[\w-]+\.tmpfss false schema/],
    ['a dependency on a missing service', ' setup: { condition', ' set-up: { condition', /depends on undefined service "set-up"/],
    ['a condition that there is not', 'condition: service_healthy }', 'condition: service_ready }', /condition/],
    ['a network that there is not', 'networks: [core]', 'networks: [kernel]', /refers to undefined network kernel/],
    ['a volume that there is not', "'secrets-worker:/run", "'secrets-workers:/run", /refers to undefined volume secrets-workers/],
    ['a value of another type', 'pids_limit: 200', 'pids_limit: many', /pids_limit/],
    ['a variable that does not end', '${CHAINS:-ethereum,base}', '${CHAINS:-ethereum,base', /CHAINS/],
    ['services that wait for each other', 'depends_on:\n      setup: {', 'depends_on:\n      api: {', /dependency cycle/],
  ])('refuses %s', async (_what, text, changed, message) => {
    expect(composeText).toContain(text);
    await expect(load(composeText.replace(text, () => changed))).rejects.toThrow(message);
  });
});

it('the collector of docs/deployment.md listens where the processes send spans, and each part of its pipeline is there', () => {
  const code = yamlBlocks('docs/deployment.md').find((block) => block.code.startsWith('receivers:'))?.code ?? '';
  type Parts = Record<string, unknown>;
  const { service, ...parts } = parse(code) as {
    receivers: { otlp: { protocols: { http: { endpoint: string } } } };
    service: { pipelines: { traces: Record<string, string[]> } };
  } & Record<string, Parts>;
  const [, port] =
    /OTEL_EXPORTER_OTLP_ENDPOINT=http:\/\/collector:(\d+)`/.exec(
      readFileSync(path.join(projectRoot, 'docs/deployment.md'), 'utf8'),
    ) ?? [];
  expect(parts.receivers.otlp.protocols.http.endpoint).toBe(`0.0.0.0:${port}`);
  expect(Object.keys(service.pipelines.traces)).toEqual(Object.keys(parts));
  for (const [kind, names] of Object.entries(service.pipelines.traces)) expect(Object.keys(parts[kind] ?? {})).toEqual(names);
});

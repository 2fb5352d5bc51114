import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';
import { packagesOfImages } from './packages';

const { packages } = JSON.parse(readFileSync(path.join(projectRoot, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { version: string; dev?: boolean; optional?: boolean; link?: boolean }>;
};

describe('packages of the images', () => {
  const text = readFileSync(path.join(projectRoot, 'docs/deployment.md'), 'utf8');
  const said = Object.fromEntries(
    [...text.matchAll(/^\| `([\w-]+)` +\|[^|]*\| (\d+) +\|$/gm)].map(([, target = '', count]) => [target, Number(count)]),
  );

  it('are as many as docs/deployment.md says', async () => {
    const counts = Object.entries(await packagesOfImages()).map(([target, folders]) => [target, folders.length]);
    expect(said).toEqual(Object.fromEntries(counts));
  });

  it('are production dependencies, and those of a signing node are some of them', async () => {
    const { gateway = [], 'mpc-node': node = [] } = await packagesOfImages();
    const unwanted = gateway.filter((folder) => {
      const { dev, optional, link } = packages[folder] ?? { dev: true };
      return dev === true || optional === true || link === true;
    });
    expect(unwanted).toEqual([]);
    expect(node.filter((folder) => !gateway.includes(folder))).toEqual([]);
  });

  it('of a signing node are as many as README.md says', async () => {
    const { gateway = [], 'mpc-node': node = [] } = await packagesOfImages();
    const readme = readFileSync(path.join(projectRoot, 'README.md'), 'utf8');
    const [, few, all] = /an image of its own, with (\d+) of the (\d+) packages/.exec(readme) ?? [];
    expect([Number(few), Number(all)]).toEqual([node.length, gateway.length]);
  });
});

describe('bills of materials', () => {
  interface Component {
    name: string;
    version: string;
    purl: string;
    hashes?: { content: string }[];
  }
  interface Bill {
    metadata: { component: { name: string } };
    components: Component[];
    dependencies: { ref: string; dependsOn?: string[] }[];
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'sbom-'));
  const bill = (name: string) => JSON.parse(readFileSync(path.join(folder, `${name}.cdx.json`), 'utf8')) as Bill;
  const of = (name: string, kind: string) => bill(name).components.filter(({ purl }) => purl.startsWith(`pkg:${kind}/`));
  const toText = ({ name, version }: { name: string; version: string }) => `${name}@${version}`;
  beforeAll(() => {
    const env = { ...process.env, npm_config_offline: 'true' };
    execFileSync(process.execPath, [path.join(projectRoot, 'scripts/sbom.mjs'), folder], { env, stdio: 'pipe' });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(['gateway', 'mpc-node'])('of %s has the packages of the image', async (target) => {
    const folders = (await packagesOfImages())[target] ?? [];
    const toName = (at: string) => `${at.replace(/^.*node_modules\//, '')}@${packages[at]?.version}`;
    // it has a package once, however often it is installed
    expect(of(target, 'npm').map(toText).sort()).toEqual([...new Set(folders.map(toName))].sort());
  });

  it('have each crate that a manifest names for the product, in whichever form, by the name of its package', () => {
    const crates = path.join(projectRoot, 'scripts/crates.mjs');
    const manifest = [
      ...[
        '[package]',
        'name = "own"',
        '[dependencies]',
        'plain = "1"',
        'inline = { version = "1", features = [',
        '  "a",',
        '] }',
      ],
      ...[
        '"quoted" = "1"',
        'dotted.version = "1"',
        '# left-out = "1"',
        'short = { version = "1", package = "renamed-one" }',
        '[dev-dependencies]',
      ],
      ...['of-tests = "1"', '[dependencies.table]', 'version = "1"', '[dependencies.other]', 'package = "renamed-two"'],
      ...[`[target.'cfg(target_arch = "wasm32")'.dependencies]`, 'of-target = "1"', 'plain = { version = "1" }'],
      ...[
        `[target.'cfg(unix)'.dependencies.table-of-target]`,
        'version = "1"',
        '[build-dependencies.of-builds]',
        'version = "1"',
      ],
      ...['[profile.release]', 'lto = true'],
    ].join('\n');
    const script = `import { namedByManifest } from ${JSON.stringify(crates)};
      process.stdout.write(JSON.stringify(namedByManifest(${JSON.stringify(manifest)})));`;
    const named = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect((JSON.parse(named) as string[]).sort()).toEqual([
      ...['dotted', 'inline', 'of-target', 'plain', 'quoted', 'renamed-one', 'renamed-two', 'table', 'table-of-target'],
    ]);
  });

  it('of a signing node names it, and depends on nothing that it does not have', () => {
    const { metadata, components, dependencies } = bill('mpc-node');
    expect(metadata.component.name).toBe('custody-gateway-mpc-node');
    expect(dependencies.length).toBe(of('mpc-node', 'npm').length + 1);
    const refs = (components as unknown as { 'bom-ref': string }[]).map((component) => component['bom-ref']);
    expect(dependencies.flatMap(({ dependsOn = [] }) => dependsOn).filter((ref) => !refs.includes(ref))).toEqual([]);
  });

  it.each(['gateway', 'mpc-node'])(
    'of %s has the crates of the module that signs, with their hashes, and none of its tests',
    (target) => {
      const native = (name: string) => readFileSync(path.join(projectRoot, 'native/threshold', name), 'utf8');
      const crates = of(target, 'cargo');
      const [product = '', tests = ''] = native('Cargo.toml').split('[dev-dependencies]');
      const named = [...product.slice(product.indexOf('[dependencies]')).matchAll(/^([\w-]+) =/gm)].map(([, name]) => name);
      expect(named.length).toBeGreaterThan(9);
      expect(crates.map(({ name }) => name)).toEqual(expect.arrayContaining(named));
      expect(tests).toContain('serde_json');
      expect(crates.map(({ name }) => name)).not.toContain('serde_json');
      for (const { name, version, hashes } of crates)
        expect(native('Cargo.lock')).toContain(
          `name = "${name}"\nversion = "${version}"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\nchecksum = "${hashes?.[0]?.content}"`,
        );
      expect(new Set(crates.map(toText)).size).toBe(crates.length);
    },
  );
});

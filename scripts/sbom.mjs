// Software bills of materials (CycloneDX, by `npm sbom`) for a release: of what the images `gateway` and `mpc-node` carry, with the crates of the
// module for threshold signing, and of the repository with what builds and tests it. Run it after `npm run build`.
//   node scripts/sbom.mjs <folder>
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { crateComponents } from './crates.mjs';
import { closure, reachedByNode, readPackages } from './image-packages.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const [target] = process.argv.slice(2);
if (!target) throw new Error('usage: node scripts/sbom.mjs <folder>');
mkdirSync(target, { recursive: true });

const npm = (args, cwd) => execFileSync('npm', args, { cwd, encoding: 'utf8', maxBuffer: 100_000_000 });
const read = (cwd, options = []) =>
  JSON.parse(npm(['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', ...options], cwd));
const write = (name, bill) => {
  writeFileSync(path.join(target, `${name}.cdx.json`), JSON.stringify(bill, null, 2));
  console.log(`${name}: ${bill.components.length} components`);
};

/** Of the packages of `gateway` those that the code of a signing node reaches. */
function ofNode(bill) {
  const packages = readPackages('package-lock.json');
  const reached = closure(reachedByNode().imported, packages).map(
    (folder) => `${folder.replace(/^.*node_modules\//, '')}@${packages[folder].version}`,
  );
  const components = bill.components.filter((component) => reached.includes(`${component.name}@${component.version}`));
  const own = bill.metadata.component;
  const refs = new Set([own, ...components].map((component) => component['bom-ref']));
  const dependencies = bill.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));
  return {
    ...bill,
    serialNumber: `urn:uuid:${randomUUID()}`,
    metadata: { ...bill.metadata, component: { ...own, name: 'custody-gateway-mpc-node' } },
    components,
    dependencies,
  };
}

const withCrates = (bill) => ({ ...bill, components: [...bill.components, ...crateComponents()] });

write('repository', read(root));
// `--omit dev` would leave out what both need: instead the rest is taken from the manifest, and the lock file follows
const production = mkdtempSync(path.join(tmpdir(), 'sbom-'));
try {
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const { devDependencies, overrides } = manifest;
  delete manifest.devDependencies;
  delete manifest.optionalDependencies;
  // client/ is not in the image
  delete manifest.workspaces;
  const fixed = Object.fromEntries(
    Object.entries(overrides).map(([name, version]) => [name, version === `$${name}` ? devDependencies[name] : version]),
  );
  writeFileSync(path.join(production, 'package.json'), JSON.stringify({ ...manifest, overrides: fixed }));
  copyFileSync(path.join(root, 'package-lock.json'), path.join(production, 'package-lock.json'));
  npm(['install', '--package-lock-only', '--ignore-scripts', '--prefer-offline'], production);
  // those of other machines, and of other systems than Node: the image is built without them
  const gateway = read(production, ['--omit', 'optional']);
  write('gateway', withCrates(gateway));
  write('mpc-node', withCrates(ofNode(gateway)));
} finally {
  rmSync(production, { recursive: true, force: true });
}

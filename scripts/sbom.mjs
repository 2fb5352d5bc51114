// Software bills of materials (CycloneDX, by `npm sbom`) for a release: of what the image `gateway` carries, and of the repository with
// what builds and tests it.
//   node scripts/sbom.mjs <folder>
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const [target] = process.argv.slice(2);
if (!target) throw new Error('usage: node scripts/sbom.mjs <folder>');
mkdirSync(target, { recursive: true });

const npm = (args, cwd) => execFileSync('npm', args, { cwd, encoding: 'utf8', maxBuffer: 100_000_000 });
const write = (name, cwd, options = []) => {
  const text = npm(['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', ...options], cwd);
  writeFileSync(path.join(target, `${name}.cdx.json`), text);
  console.log(`${name}: ${JSON.parse(text).components.length} components`);
};

write('repository', root);
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
  write('gateway', production, ['--omit', 'optional']);
} finally {
  rmSync(production, { recursive: true, force: true });
}

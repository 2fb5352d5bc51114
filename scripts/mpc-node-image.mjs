// Copies what a signing node runs, and nothing else, to a folder: the compiled files that its entry point reaches, and the packages that
// they import with those that these depend on. Run it after `npm run build`.
//   node scripts/mpc-node-image.mjs <folder>
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { closure, reachedByNode, readPackages } from './image-packages.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const [target] = process.argv.slice(2);
if (!target) throw new Error('usage: node scripts/mpc-node-image.mjs <folder>');

/** Loaded by path at run time, so that no import shows them. */
const loadedByPath = [
  'package.json',
  // by src/chains/solana/paid/threads.ts, which a node has since it asks nodes of Solana too
  'dist/src/chains/solana/paid/thread.js',
  'native/threshold/worker.cjs',
  'native/threshold/verify.cjs',
  'native/threshold/wasm',
  'scripts/healthy.cjs',
];

const { files, imported } = reachedByNode();
// what npm has installed
const packages = closure(imported, readPackages('node_modules/.package-lock.json'));

for (const file of [...files, ...loadedByPath.map((name) => path.join(root, name))]) copy(file);
for (const folder of packages) copy(path.join(root, folder), (from) => !nested(path.join(root, folder), from) && !foreign(from));
writeFileSync(path.join(target, 'packages.txt'), `${packages.join('\n')}\n`);
console.log(`${files.length} files and ${packages.length} packages`);

/** Packages inside a package are copied for themselves, if they are needed. */
function nested(folder, from) {
  return path.relative(folder, from).split(path.sep).includes('node_modules');
}

/** Native modules of Temporal's SDK for other machines: each has more than all the rest. */
function foreign(from) {
  const [, machine] = /core-bridge\/releases\/([^/]+)/.exec(from) ?? [];
  return machine !== undefined && machine !== `${{ x64: 'x86_64', arm64: 'aarch64' }[process.arch]}-unknown-linux-gnu`;
}

function copy(from, filter = () => true) {
  const to = path.join(target, path.relative(root, from));
  mkdirSync(path.dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, filter });
}

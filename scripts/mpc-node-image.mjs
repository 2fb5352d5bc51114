// Copies what a signing node runs, and nothing else, to a folder: the compiled files that its entry point reaches, and the packages that
// they import with those that these depend on. Run it after `npm run build`.
//   node scripts/mpc-node-image.mjs <folder>
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const [target] = process.argv.slice(2);
if (!target) throw new Error('usage: node scripts/mpc-node-image.mjs <folder>');

const dist = path.join(root, 'dist');
const entry = path.join(dist, 'src/processes/mpc-node.js');
/** Loaded by path at run time, so that no import shows them. */
const loadedByPath = [
  'package.json',
  'native/threshold/worker.cjs',
  'native/threshold/verify.cjs',
  'native/threshold/wasm',
  'scripts/healthy.cjs',
];

const files = new Set();
const imported = new Set();
const open = [entry];
for (let file = open.pop(); file !== undefined; file = open.pop()) {
  if (files.has(file)) continue;
  files.add(file);
  for (const [, name] of readFileSync(file, 'utf8').matchAll(/(?:require|import)\(['"]([^'"]+)['"]\)/g)) {
    if (name.startsWith('.')) open.push(resolveFile(path.resolve(path.dirname(file), name)));
    else if (!isBuiltin(name)) imported.add(toPackage(name));
  }
}
const packages = closure([...imported]);

for (const file of [...files, ...loadedByPath.map((name) => path.join(root, name))]) copy(file);
for (const folder of packages) copy(path.join(root, folder), (from) => !nested(path.join(root, folder), from) && !foreign(from));
writeFileSync(
  path.join(target, 'packages.txt'),
  `${packages.map((folder) => folder.replace(/^.*node_modules\//, '')).join('\n')}\n`,
);
console.log(`${files.size} files and ${packages.length} packages`);

function resolveFile(at) {
  const found = [`${at}.js`, at, path.join(at, 'index.js')].find(
    (candidate) => existsSync(candidate) && /\.[cm]?js(on)?$/.test(candidate),
  );
  if (!found) throw new Error(`${at} is imported and was not compiled`);
  return found;
}

function toPackage(name) {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Folders of the packages and of all that they depend on, found as Node finds them; optional ones where they are installed. */
function closure(names) {
  const found = new Set();
  const waiting = names.map((name) => [name, '']);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [name, from] = next;
    const folder = find(name, from);
    if (folder === undefined || found.has(folder)) continue;
    found.add(folder);
    const {
      dependencies = {},
      optionalDependencies = {},
      peerDependencies = {},
      peerDependenciesMeta: meta = {},
    } = JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8'));
    const peers = Object.keys(peerDependencies).filter((peer) => !meta[peer]?.optional);
    for (const other of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) waiting.push([other, folder]);
  }
  return [...found].sort();
}

function find(name, from) {
  for (let folder = from; ; folder = path.dirname(folder)) {
    const candidate = path.join(folder === '.' ? '' : folder, 'node_modules', name);
    if (existsSync(path.join(root, candidate, 'package.json'))) return candidate;
    if (folder === '' || folder === '.') return undefined;
  }
}

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

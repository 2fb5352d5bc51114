// What the packages of an image are, by a lock file: those that the product names for `gateway`, those that the code of a signing node reaches
// for `mpc-node`, and all that these depend on. Run it after `npm run build`: it prints the folders of both.
//   node scripts/image-packages.mjs
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/** Compiled files that the entry point of a signing node reaches by imports, and the packages that they import. */
export function reachedByNode() {
  const files = new Set();
  const imported = new Set();
  const open = [path.join(root, 'dist/src/processes/mpc-node.js')];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const [, name] of readFileSync(file, 'utf8').matchAll(/(?:require|import)\(['"]([^'"]+)['"]\)/g)) {
      if (name.startsWith('.')) open.push(resolveFile(path.resolve(path.dirname(file), name)));
      else if (!isBuiltin(name)) imported.add(toPackage(name));
    }
  }
  return { files: [...files], imported: [...imported] };
}

/**
 * Folders of the packages and of all that they depend on, found as Node finds them; optional ones are in no image.
 * @param packages of a lock file, by folder
 */
export function closure(names, packages) {
  const found = new Set();
  const waiting = names.map((name) => [name, '']);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [name, from] = next;
    const folder = find(name, from, packages);
    if (folder === undefined || found.has(folder)) continue;
    found.add(folder);
    const { dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta: meta = {} } = packages[folder];
    const peers = Object.keys(peerDependencies).filter((peer) => !meta[peer]?.optional);
    for (const other of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) waiting.push([other, folder]);
  }
  return [...found].sort();
}

export const readPackages = (name) => JSON.parse(readFileSync(path.join(root, name), 'utf8')).packages;

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

function find(name, from, packages) {
  for (let folder = from; ; folder = path.dirname(folder)) {
    const candidate = path.join(folder === '.' ? '' : folder, 'node_modules', name);
    if (packages[candidate] && !packages[candidate].optional) return candidate;
    if (folder === '' || folder === '.') return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const packages = readPackages('package-lock.json');
  const lists = {
    gateway: closure(Object.keys(packages[''].dependencies), packages),
    'mpc-node': closure(reachedByNode().imported, packages),
  };
  console.log(JSON.stringify(lists));
}

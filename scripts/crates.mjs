// The crates that the module for threshold signing (native/threshold/wasm) is built from, as components of a bill of materials: those that the
// manifest names for the product, and all that these depend on by the lock file, also for other machines than WebAssembly. Without cargo.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../native/threshold');

/** @returns components of CycloneDX, sorted by name and version */
export function crateComponents() {
  const locked = readLock(readFileSync(path.join(folder, 'Cargo.lock'), 'utf8'));
  const found = new Set();
  const named = namedByManifest(readFileSync(path.join(folder, 'Cargo.toml'), 'utf8'));
  // the lock file says the versions, and has what is for tests too
  const own = locked.find(({ name }) => name === 'threshold');
  const waiting = own.dependencies.filter((name) => named.includes(name.split(' ')[0]));
  const unknown = named.filter((name) => !waiting.some((it) => it.split(' ')[0] === name));
  if (unknown.length > 0) throw new Error(`Cargo.lock has no dependency ${unknown.join(', ')} of the module`);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    // a lock file has the version of a dependency where there are several of the name
    const [wanted, version] = name.split(' ');
    const crates = locked.filter((crate) => crate.name === wanted && (version === undefined || crate.version === version));
    if (crates.length !== 1) throw new Error(`Cargo.lock has ${crates.length} crates for ${name}`);
    if (found.has(crates[0])) continue;
    found.add(crates[0]);
    waiting.push(...crates[0].dependencies);
  }
  return [...found]
    .map(({ name, version, checksum }) => {
      const purl = `pkg:cargo/${name}@${version}`;
      return { 'bom-ref': purl, type: 'library', name, version, purl, hashes: [{ alg: 'SHA-256', content: checksum }] };
    })
    .sort((a, b) => (a.purl < b.purl ? -1 : 1));
}

function readLock(text) {
  return text
    .split('[[package]]')
    .slice(1)
    .map((entry) => {
      const value = (key) => new RegExp(`^${key} = "(.*)"$`, 'm').exec(entry)?.[1];
      const [, list = ''] = /^dependencies = \[([\s\S]*?)^\]/m.exec(entry) ?? [];
      const dependencies = [...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name);
      return { name: value('name'), version: value('version'), checksum: value('checksum'), dependencies };
    });
}

/**
 * The crates that a manifest names for the product, not those for tests and builds: `name = …`, `name.version = …`, or a table of its own, of any
 * target. One that has another name in the code is known to the lock file by that of its package.
 */
export function namedByManifest(text) {
  const renamed = (entry) => /(?:^|[\s{,.])package *= *"([^"]+)"/.exec(entry)?.[1];
  const named = new Map();
  for (const section of text.replace(/^ *#.*$/gm, '').split(/^(?=\[)/m)) {
    const [header, table] = /^\[(?:target\..+\.)?dependencies(?:\.([\w-]+))?\]/.exec(section) ?? [];
    if (header === undefined) continue;
    const entries = table === undefined ? section.split(/^(?=[\w-]+(?:\.[\w-]+)* *=)/m).slice(1) : [`${table}\n${section}`];
    for (const entry of entries) {
      const [name] = /^[\w-]+/.exec(entry);
      named.set(name, renamed(entry) ?? named.get(name) ?? name);
    }
  }
  return [...new Set(named.values())];
}

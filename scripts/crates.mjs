// The crates that the module for threshold signing (native/threshold/wasm) is built from, as components of a bill of materials: those that the
// manifest names for the product, and all that these depend on by the lock file, also for other machines than WebAssembly. Without cargo.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'smol-toml';

const folder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../native/threshold');

/** @returns components of CycloneDX, sorted by name and version */
export function crateComponents() {
  const { package: locked } = parse(readFileSync(path.join(folder, 'Cargo.lock'), 'utf8'));
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
    waiting.push(...(crates[0].dependencies ?? []));
  }
  return [...found]
    .map(({ name, version, checksum }) => {
      const purl = `pkg:cargo/${name}@${version}`;
      return { 'bom-ref': purl, type: 'library', name, version, purl, hashes: [{ alg: 'SHA-256', content: checksum }] };
    })
    .sort((a, b) => (a.purl < b.purl ? -1 : 1));
}

/**
 * The crates that a manifest names for the product, of any target, not those for tests and builds. One that has another name in the code is known to
 * the lock file by that of its package.
 */
export function namedByManifest(text) {
  const { dependencies = {}, target = {} } = parse(text);
  const tables = [dependencies, ...Object.values(target).map((of) => of.dependencies ?? {})];
  return [...new Set(tables.flatMap((table) => Object.entries(table).map(([name, crate]) => crate.package ?? name)))];
}

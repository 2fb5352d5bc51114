// Compiles the TypeScript sources to dist/ (swc: no type check, that is `npm run typecheck`) and bundles the
// workflows once, so that workers start without webpack. Unchanged inputs are not rebuilt.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const dist = path.join(root, 'dist');
const manifestFile = path.join(dist, '.manifest.json');
// the container image is built without dev/ and client/
const sourceFolders = ['src', 'workflows', 'activities', 'migrations', 'dev', 'client/src'].filter((folder) =>
  existsSync(path.join(root, folder)),
);

const sources = sourceFolders.flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.d.ts'))
    .map((entry) => path.relative(root, path.join(entry.parentPath ?? entry.path, entry.name))),
);
const hash = (text) => createHash('sha256').update(text).digest('hex');
const compiler = readFileSync(path.join(root, '.swcrc'), 'utf8') + require('@swc/core/package.json').version;
const previous = existsSync(manifestFile) ? JSON.parse(readFileSync(manifestFile, 'utf8')) : {};
const known = previous.compiler === compiler ? (previous.files ?? {}) : {};
const files = {};

const swc = require('@swc/core');
let compiled = 0;
for (const source of sources) {
  const text = readFileSync(path.join(root, source), 'utf8');
  const target = path.join(dist, source.replace(/\.ts$/, '.js'));
  files[source] = hash(text);
  if (known[source] === files[source] && existsSync(target)) continue;
  const output = swc.transformSync(text, { filename: path.join(root, source), cwd: root });
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, `${output.code}\n//# sourceMappingURL=${path.basename(target)}.map\n`);
  writeFileSync(`${target}.map`, output.map);
  compiled += 1;
}
for (const gone of Object.keys(known).filter((source) => !(source in files))) {
  for (const suffix of ['.js', '.js.map']) rmSync(path.join(dist, gone.replace(/\.ts$/, suffix)), { force: true });
}

const bundleFile = path.join(dist, 'workflow-bundle.js');
const bundleHash = hash(
  sources
    .filter((s) => isBundleInput(s))
    .map((s) => s + files[s])
    .join() + require('@temporalio/worker/package.json').version,
);
let bundled = false;
if (existsSync(path.join(root, 'workflows', 'index.ts')) && (previous.bundle !== bundleHash || !existsSync(bundleFile))) {
  const { bundleWorkflowCode } = require('@temporalio/worker');
  const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error };
  const { code } = await bundleWorkflowCode({
    workflowsPath: path.join(dist, 'workflows', 'index.js'),
    workflowInterceptorModules: [path.join(dist, 'workflows', 'tracing.js')],
    logger: quiet,
  });
  writeFileSync(bundleFile, code);
  bundled = true;
}
mkdirSync(dist, { recursive: true });
const manifest = JSON.stringify({ compiler, files, bundle: bundleHash });
// another run may read it at the same time: what has not changed is not written, and what has is written as a whole
if (manifest !== JSON.stringify(previous)) {
  const written = `${manifestFile}.${process.pid}`;
  writeFileSync(written, manifest);
  renameSync(written, manifestFile);
}
if (compiled || bundled) console.log(`built: ${compiled} files compiled${bundled ? ', workflows bundled' : ''}`);

/** Pure code outside workflows/ that workflows may import (see .dependency-cruiser.cjs). */
function isBundleInput(source) {
  return source.startsWith('workflows') || source.startsWith('src/messages/') || /(codes|types)\.ts$/.test(source);
}

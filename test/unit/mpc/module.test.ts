import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { projectRoot } from '../../../dev/paths';

const folder = path.resolve(__dirname, '../../../native/threshold');
let copy: string;
beforeEach(() => {
  copy = mkdtempSync(path.join(tmpdir(), 'threshold-'));
  for (const name of ['worker.cjs', 'verify.cjs', 'wasm'])
    cpSync(path.join(folder, name), path.join(copy, name), { recursive: true });
});
afterEach(() => rmSync(copy, { recursive: true }));

/** Why the thread of the copy ends; null when it starts. */
async function startThread(): Promise<string | null> {
  const worker = new Worker(path.join(copy, 'worker.cjs'), { workerData: { niceness: 0 } });
  const failed = new Promise<string>((resolve) => worker.once('error', (error: Error) => resolve(error.message)));
  const answered = new Promise<null>((resolve) => worker.once('message', () => resolve(null)));
  worker.postMessage({ id: 1, operation: 'close', session: 1 });
  const outcome = await Promise.race([failed, answered]);
  await worker.terminate();
  return outcome;
}

const flipOneBit = (name: string, at: number) => {
  const file = path.join(copy, 'wasm', name);
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
};

/** Starts the process of a node, without any configuration, from a copy of the installation with the copied module. */
function startNode(): { code: number | null; err: string } {
  const root = path.join(copy, 'installation');
  const native = path.join(root, 'native', 'threshold');
  cpSync(path.join(projectRoot, 'dist'), path.join(root, 'dist'), { recursive: true });
  mkdirSync(native, { recursive: true });
  for (const name of ['worker.cjs', 'verify.cjs', 'wasm'])
    cpSync(path.join(copy, name), path.join(native, name), { recursive: true });
  for (const name of ['node_modules', 'package.json']) symlinkSync(path.join(projectRoot, name), path.join(root, name));
  const entry = path.join(root, 'dist', 'src', 'processes', 'mpc-node.js');
  const { status, stderr } = spawnSync(process.execPath, [entry], { env: {}, encoding: 'utf8', timeout: 60_000 });
  return { code: status, err: stderr };
}

test('the committed module has the hashes that are committed with it', async () => {
  expect(() => execFileSync(process.execPath, [path.join(folder, 'verify.cjs')], { stdio: 'pipe' })).not.toThrow();
  expect(await startThread()).toBeNull();
});

test.each(['threshold_bg.wasm', 'threshold.js'])('a thread does not start with one bit changed in %s', async (name) => {
  // in a comment of the code, and late in the module: both would still load
  flipOneBit(name, name === 'threshold.js' ? 12 : readFileSync(path.join(copy, 'wasm', name)).length - 100);
  const reason = `${name} of the threshold-signing module is not the committed one: its SHA-256 is `;
  expect(await startThread()).toContain(reason);
  const check = () => execFileSync(process.execPath, [path.join(copy, 'verify.cjs')], { stdio: 'pipe' });
  expect(check).toThrow(reason);
});

test('the process of a node ends with a clear error when one bit of the module is changed', () => {
  // unchanged it comes as far as its configuration, which this one has not
  expect(startNode()).toEqual({ code: 78, err: expect.stringMatching(/^mpc-node: \w+ is required/) });
  rmSync(path.join(copy, 'installation'), { recursive: true });
  flipOneBit('threshold_bg.wasm', 1_000);
  const reason = 'threshold_bg.wasm of the threshold-signing module is not the committed one: its SHA-256 is ';
  expect(startNode()).toEqual({ code: 1, err: expect.stringContaining(reason) });
});

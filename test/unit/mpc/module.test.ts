import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';

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

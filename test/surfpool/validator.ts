import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** There is no Rust here, or no way to get the crates; the message says which. */
export class ValidatorMissing extends Error {}

export interface Validator {
  /** JSON-RPC. */
  url: string;
  webSocket: string;
  stop: () => Promise<void>;
}

const folder = path.join(__dirname, 'validator');
const fetchMs = 10 * 60_000;
const buildMs = 45 * 60_000;
const startMs = 60_000;

/** Exit code; null: there is no cargo. Its output is that of the run. */
function cargo(args: string[], timeout: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn('cargo', args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'], timeout });
    child.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? resolve(null) : reject(error)));
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/**
 * The path of the validator, which is built first where it is not yet, with the versions of its Cargo.lock alone.
 * @throws ValidatorMissing; Error for a build that fails
 */
export async function buildValidator(): Promise<string> {
  const fetched = await cargo(['fetch', '--locked'], fetchMs);
  if (fetched === null) throw new ValidatorMissing('there is no cargo: install Rust from https://rustup.rs');
  if (fetched !== 0) throw new ValidatorMissing('the crates could not be fetched');
  const built = await cargo(['build', '--locked', '--offline'], buildMs);
  if (built !== 0) throw new Error('the validator could not be built');
  return path.join(folder, 'target', 'debug', 'validator');
}

/** Starts one on free ports. @param slotMs time between two blocks */
export async function startValidator(program: string, slotMs: number): Promise<Validator> {
  const child = spawn(program, [String(slotMs)], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH },
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  try {
    return { ...(await readAddresses(child)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The first line that it writes. */
function readAddresses(child: ChildProcess): Promise<Pick<Validator, 'url' | 'webSocket'>> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`the validator ${why}`));
    const timer = setTimeout(() => fail('did not start in time'), startMs);
    child.once('error', reject);
    child.once('close', () => {
      clearTimeout(timer);
      fail('has ended');
    });
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      if (!line.startsWith('{')) return;
      clearTimeout(timer);
      resolve(JSON.parse(line) as Pick<Validator, 'url' | 'webSocket'>);
    });
  });
}

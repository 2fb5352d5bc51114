import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { copyFile, open, rename } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from './processes';

export interface AnvilOptions {
  chainId: number;
  /** Address that it listens on; by default this machine alone can reach it. */
  host?: string;
  port: number;
  blockTimeSeconds: number;
  /** File of the chain's state; undefined: the chain is lost when the process ends. */
  stateFile?: string;
}

/**
 * A local chain. Its state is written every second, so that a kill -9 loses the last second: the latest blocks with their transactions
 * disappear and are replaced by others. For the gateway this is a reorg, with a head that moves back: a lost transfer is broadcast
 * again, a lost deposit is reversed. Pending transactions are lost as well, as on a real node.
 */
export function anvilCommand({ chainId, host = '127.0.0.1', port, blockTimeSeconds, stateFile }: AnvilOptions): Command {
  const args = ['--host', host, '--port', String(port), '--chain-id', String(chainId), '--block-time', String(blockTimeSeconds)];
  // one slot per epoch: `safe` is one block behind the head and `finalized` two, so that both advance
  args.push('--slots-in-an-epoch', '1', '--quiet');
  if (stateFile) {
    mkdirSync(path.dirname(stateFile), { recursive: true });
    args.push('--state', stateFile, '--state-interval', '1');
  }
  return { command: anvilBinary(), args, env: { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1' } };
}

function anvilBinary(): string {
  const { ANVIL_BIN, PATH } = process.env;
  if (ANVIL_BIN) {
    if (!existsSync(ANVIL_BIN)) throw new Error(`ANVIL_BIN is ${ANVIL_BIN}, which does not exist`);
    return ANVIL_BIN;
  }
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  try {
    return require.resolve(`@foundry-rs/anvil-${process.platform}-${arch}/bin/anvil`);
  } catch {
    const folder = (PATH ?? '').split(path.delimiter).find((candidate) => candidate && existsSync(path.join(candidate, 'anvil')));
    if (folder) return path.join(folder, 'anvil');
  }
  throw new Error(
    `no Anvil for ${process.platform}-${arch}: run \`npm ci\`, install Foundry (https://getfoundry.sh) so that \`anvil\` is on PATH, set ANVIL_BIN to its path, or set CHAIN_<NAME>_RPC_URLS to nodes of your own`,
  );
}

const copyPath = (stateFile: string): string => `${stateFile}.copy`;

/**
 * Restores the last complete copy of the state if the file is incomplete: Anvil writes the file in place, so that a kill during a write
 * leaves a file from which it cannot start. Must be called before every start; `keepStateCopy` makes the copies.
 */
export function restoreState(stateFile: string): void {
  if (isComplete(stateFile)) return;
  rmSync(stateFile, { force: true });
  if (!isComplete(copyPath(stateFile))) return;
  copyFileSync(copyPath(stateFile), `${stateFile}.new`);
  renameSync(`${stateFile}.new`, stateFile);
}

function isComplete(file: string): boolean {
  try {
    JSON.parse(readFileSync(file, 'utf8'));
    return true;
  } catch {
    return false;
  }
}

/** Copies the state every few seconds while Anvil is not writing it. Returns a function that stops copying. */
export function keepStateCopy(stateFile: string, intervalMs = 3_000): () => void {
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    void copyState(stateFile)
      .catch(() => undefined)
      .finally(() => (busy = false));
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

async function copyState(stateFile: string): Promise<void> {
  const temporary = `${copyPath(stateFile)}.new`;
  await copyFile(stateFile, temporary);
  const file = await open(temporary, 'r');
  try {
    const { size } = await file.stat();
    if (size === 0) return;
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    // quick check: a truncated file rarely ends with a brace; restoreState checks the whole file
    if (buffer.toString() !== '}') return;
  } finally {
    await file.close();
  }
  await rename(temporary, copyPath(stateFile));
}

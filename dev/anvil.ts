import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { copyFile, open, rename } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from './processes';

export interface AnvilOptions {
  chainId: number;
  port: number;
  blockTimeSeconds: number;
  /** Where the chain is kept; undefined for one that ends with its process. */
  stateFile?: string;
}

/**
 * A local chain. Its state is written every second, so a kill -9 costs it the last second: blocks, and transactions in
 * them, that had been seen are then gone, and other blocks take their heights. To the gateway that is a reorg (with a head that
 * jumps back), and it has to get over it as over any other: a lost transfer is broadcast again, a lost deposit is taken back.
 * A transaction that was only pending is lost as well, as on a real node.
 */
export function anvilCommand({ chainId, port, blockTimeSeconds, stateFile }: AnvilOptions): Command {
  const args = [
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--chain-id',
    String(chainId),
    '--block-time',
    String(blockTimeSeconds),
  ];
  // one slot an epoch: `safe` is one block behind the head and `finalized` two, so both move
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
    if (!existsSync(ANVIL_BIN)) throw new Error(`ANVIL_BIN names ${ANVIL_BIN}, which does not exist`);
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
    `no Anvil for ${process.platform}-${arch}: run \`npm ci\`, install Foundry (https://getfoundry.sh) so that \`anvil\` is on PATH, name it with ANVIL_BIN, or name nodes of your own with CHAIN_<NAME>_RPC_URLS`,
  );
}

const copyOf = (stateFile: string): string => `${stateFile}.copy`;

/**
 * Anvil writes its state in place: killed while writing it leaves half a file, from which it cannot start. So whole files are
 * copied while it runs (below), and the copy is put back here. To be called before every start.
 */
export function repairState(stateFile: string): void {
  if (isWhole(stateFile)) return;
  rmSync(stateFile, { force: true });
  if (!isWhole(copyOf(stateFile))) return;
  copyFileSync(copyOf(stateFile), `${stateFile}.new`);
  renameSync(`${stateFile}.new`, stateFile);
}

function isWhole(file: string): boolean {
  try {
    JSON.parse(readFileSync(file, 'utf8'));
    return true;
  } catch {
    return false;
  }
}

/** Copies the state every few seconds while Anvil is not writing it. Returns what stops it. */
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
  const temporary = `${copyOf(stateFile)}.new`;
  await copyFile(stateFile, temporary);
  const file = await open(temporary, 'r');
  try {
    const { size } = await file.stat();
    if (size === 0) return;
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    // a file cut off in the middle ends in anything but the outermost brace, near enough; repairState looks at all of it
    if (buffer.toString() !== '}') return;
  } finally {
    await file.close();
  }
  await rename(temporary, copyOf(stateFile));
}

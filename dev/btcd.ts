import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { binFolder, findOnPath, goInstall, isExecutable } from './binaries';
import { faucetAddress } from './bitcoin';
import type { Command } from './processes';

const goPackage = 'github.com/btcsuite/btcd@v0.26.2';

/** btcd is missing and could not be installed; the message says why and what to do. */
export class BtcdMissing extends Error {}

/** BTCD_BIN, `btcd` on PATH, or what was built before. @throws BtcdMissing for a BTCD_BIN that is no program. */
export function findInstalledBtcd(): string | undefined {
  const { BTCD_BIN } = process.env;
  if (BTCD_BIN && !isExecutable(BTCD_BIN)) throw new BtcdMissing(`BTCD_BIN is ${BTCD_BIN}, which is not an executable file`);
  return BTCD_BIN || (findOnPath('btcd') ?? [builtBtcd()].find(isExecutable));
}

const builtBtcd = (): string => path.join(binFolder(), 'btcd');

/**
 * The installed btcd, or one built with Go.
 * @param progress called with what is in progress
 * @throws BtcdMissing
 */
export async function findBtcd(progress: (text: string) => void): Promise<string> {
  const installed = findInstalledBtcd();
  if (installed) return installed;
  try {
    await goInstall(goPackage, { what: 'btcd', usual: 'half a minute', progress });
  } catch (error) {
    throw new BtcdMissing(
      `${(error as Error).message}; install Go 1.24 or later, or btcd so that it is on PATH, or set BTCD_BIN to its path`,
    );
  }
  return builtBtcd();
}

export interface BtcdOptions {
  rpcPort: number;
  peerPort: number;
  password: string;
  folder: string;
}

const rpcUser = 'dev';

/** A local chain (regtest): its blocks are kept in `folder`, and pay the faucet. */
export function btcdCommand(btcd: string, { rpcPort, peerPort, password, folder }: BtcdOptions): Command {
  mkdirSync(folder, { recursive: true });
  return {
    command: btcd,
    args: [
      ...['--regtest', '--txindex', '--addrindex', '--notls', '--configfile=/dev/null', '--relaynonstd', '--norelaypriority'],
      ...[`--rpcuser=${rpcUser}`, `--rpcpass=${password}`, `--rpclisten=127.0.0.1:${rpcPort}`],
      ...[`--listen=127.0.0.1:${peerPort}`, '--nodnsseed', `--miningaddr=${faucetAddress}`],
      ...[`--datadir=${path.join(folder, 'data')}`, `--logdir=${path.join(folder, 'logs')}`, '--debuglevel=warn'],
    ],
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  };
}

export const btcdUrl = ({ rpcPort, password }: Pick<BtcdOptions, 'rpcPort' | 'password'>): string =>
  `http://${rpcUser}:${password}@127.0.0.1:${rpcPort}`;

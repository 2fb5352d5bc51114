import path from 'node:path';
import { rpcUrlsVariable } from '../src/chains/config';
import type { ChainDefinition } from '../src/chains/types';
import { freePort } from './ports';
import type { ServicesContext } from './services';
import { LocalChainClient, localChainCommand } from './solana/stack';
import type { StackChain } from './stack-file';

/** Blocks behind the head. Fewer than the network's 31 for what is finalized, so that a payment counts after seconds. */
const lags = { confirmed: 2, finalized: 4 };
/** What parts of the gateway may ask a second: the pace of public endpoints would slow a local chain down. */
const requestsPerSecond = 500;

/** litesvm, which executes transactions, has no package for this machine, or is not installed; the message says so. */
export class LitesvmMissing extends Error {}

/**
 * Starts the local chain for a chain of the local profile, unless CHAIN_<NAME>_RPC_URLS is set.
 * @throws LitesvmMissing
 */
export async function startSolanaChain(
  { paths, supervisor, env, preferred }: ServicesContext,
  chain: ChainDefinition,
  index: number,
): Promise<StackChain> {
  const tokens = Object.fromEntries(chain.tokens.map(({ symbol, contract }) => [symbol, contract ?? '']));
  const common = { family: 'solana', network: 'local', tokens };
  const [given] = (env[rpcUrlsVariable(chain.name)] ?? '').split(',');
  if (given) return { ...common, rpc: given.trim(), faucet: false };

  assertInstalled();
  const port = await freePort(preferred(8899 + index));
  const rpc = `http://127.0.0.1:${port}`;
  const stateFile = path.join(paths.chains, `${chain.name}.json`);
  const local = new LocalChainClient(rpc);
  await supervisor.start({
    name: `chain-${chain.name}`,
    group: `chain:${chain.name}`,
    command: () => localChainCommand({ port, slotMs: chain.blockTimeMs, ...lags, stateFile }),
    ready: async () => (await local.status()).head >= 0,
    readyTimeoutMs: 30_000,
    stopSignal: 'SIGINT',
  });
  return { ...common, rpc, gateway_rpc: `${rpc}?rate=${requestsPerSecond}`, faucet: true };
}

function assertInstalled(): void {
  const { platform, arch } = process;
  if (!isLitesvmInstalled()) throw new LitesvmMissing(`litesvm is not installed, or has no package for ${platform} on ${arch}`);
}

/** Its machine code is in a package of the platform. Loading it here would delay the start of everything else. */
export function isLitesvmInstalled(): boolean {
  const { platform, arch } = process;
  return ['', '-gnu', '-musl'].some((libc) => isInstalled(`litesvm-${platform}-${arch}${libc}`));
}

function isInstalled(name: string): boolean {
  try {
    return require.resolve(name) !== '';
  } catch {
    return false;
  }
}

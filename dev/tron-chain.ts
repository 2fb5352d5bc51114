import path from 'node:path';
import { rpcUrlsVariable } from '../src/chains/config';
import type { ChainDefinition } from '../src/chains/types';
import { freePort } from './ports';
import type { ServicesContext } from './services';
import type { StackChain } from './stack-file';
import { SimulatorClient, simulatorCommand } from './tron/stack';

/** Fewer than the network's 19, so that a payment counts after seconds. */
const solidLag = 4;
/** What parts of the gateway may ask a second: the pace of public endpoints would slow a local chain down. */
const requestsPerSecond = 500;

/** Starts the simulator for a chain of the local profile, unless CHAIN_<NAME>_RPC_URLS is set. */
export async function startTronChain(
  { paths, supervisor, env, preferred }: ServicesContext,
  chain: ChainDefinition,
  index: number,
): Promise<StackChain> {
  const tokens = Object.fromEntries(chain.tokens.map(({ symbol, contract }) => [symbol, contract ?? '']));
  const common = { family: 'tron', network: 'local', tokens };
  const [given] = (env[rpcUrlsVariable(chain.name)] ?? '').split(',');
  if (given) return { ...common, rpc: given.trim(), faucet: false };

  const port = await freePort(preferred(9090 + index));
  const rpc = `http://127.0.0.1:${port}`;
  const stateFile = path.join(paths.chains, `${chain.name}.json`);
  const simulator = new SimulatorClient(rpc);
  await supervisor.start({
    name: `chain-${chain.name}`,
    group: `chain:${chain.name}`,
    command: () => simulatorCommand({ port, blockMs: chain.blockTimeMs, solidLag, stateFile }),
    ready: async () => (await simulator.status()).head >= 0,
    readyTimeoutMs: 30_000,
    stopSignal: 'SIGINT',
  });
  return { ...common, rpc, gateway_rpc: `${rpc}?rate=${requestsPerSecond}`, faucet: true };
}

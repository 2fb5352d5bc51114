import path from 'node:path';
import { rpcUrlsVariable } from '../src/chains/config';
import type { ChainDefinition } from '../src/chains/types';
import { anvilCommand, keepStateCopy, restoreState } from './anvil';
import { devChain, prepareChain } from './chain';
import { getOrCreateSecret } from './files';
import { slowDownWhenIdle } from './idle-chain';
import type { DevPaths } from './paths';
import { freePort } from './ports';
import { randomPassword } from '../src/cli/setup/new-secrets';
import { isPostgresReady, preparePostgres } from './postgres';
import type { StackChain } from './stack-file';
import type { Supervisor } from './supervisor';
import { findTemporalCli, isTemporalReady, temporalCommand } from './temporal-cli';

/** Context for starting the services of the stack. */
export interface ServicesContext {
  paths: DevPaths;
  supervisor: Supervisor;
  env: NodeJS.ProcessEnv;
  /** Preferred ports, or any free ones. */
  preferred: (port: number) => number | undefined;
  /** The data is deleted afterwards. */
  throwaway: boolean;
  /** A line for the terminal. */
  log: (line: string) => void;
  /** Called when the stack stops. */
  onStop: (action: () => void) => void;
}

/** Starts Postgres; returns the superuser's url. */
export async function startPostgres({ paths, supervisor, preferred, throwaway }: ServicesContext): Promise<string> {
  const superuserPassword = getOrCreateSecret(paths.secrets, 'postgres-superuser', randomPassword);
  const port = await freePort(preferred(54329));
  const prepare = () => preparePostgres({ folder: paths.postgres, port, superuserPassword, throwaway });
  const { superuserUrl } = await prepare();
  await supervisor.start({
    name: 'postgres',
    group: 'postgres',
    command: prepare,
    ready: () => isPostgresReady(superuserUrl),
    readyTimeoutMs: 60_000,
    // fast shutdown: closes sessions, writes data
    stopSignal: 'SIGINT',
    stopTimeoutMs: 20_000,
  });
  return superuserUrl;
}

/** Starts the Temporal dev server; returns its address and the address of its UI. */
export async function startTemporal({ paths, supervisor, preferred }: ServicesContext, note: (text: string) => void) {
  const cli = await findTemporalCli(note);
  const port = await freePort(preferred(7233));
  const uiPort = await freePort(preferred(8233));
  const address = `127.0.0.1:${port}`;
  await supervisor.start({
    name: 'temporal',
    group: 'temporal',
    command: () => temporalCommand(cli, { port, uiPort, databaseFile: paths.temporal }),
    ready: () => isTemporalReady(address),
    readyTimeoutMs: 60_000,
    background: true,
  });
  return { address, ui: `http://127.0.0.1:${uiPort}` };
}

/** Starts Anvil for a chain of the local profile, unless CHAIN_<NAME>_RPC_URLS is set. */
export async function startEvmChain(context: ServicesContext, chain: ChainDefinition, index: number): Promise<StackChain> {
  const { paths, supervisor, env, preferred, throwaway, onStop } = context;
  const tokens = Object.fromEntries(chain.tokens.map(({ symbol, contract }) => [symbol, contract ?? '']));
  // the reference of CAIP-2, which is the chain id of an EVM chain
  const chainId = Number(chain.caip2.split(':')[1]);
  const common = { family: chain.family, chain_id: chainId, tokens };
  const [given] = (env[rpcUrlsVariable(chain.name)] ?? '').split(',');
  if (given) return { ...common, rpc: given.trim(), faucet: false };

  const port = await freePort(preferred(8545 + index));
  const rpc = `http://127.0.0.1:${port}`;
  const stateFile = path.join(paths.chains, `${chain.name}.json`);
  const node = devChain(rpc);
  const blockTimeSeconds = Math.max(1, chain.blockTimeMs / 1000);
  await supervisor.start({
    name: `chain-${chain.name}`,
    group: `chain:${chain.name}`,
    command: () => {
      restoreState(stateFile);
      return anvilCommand({ chainId, port, blockTimeSeconds, stateFile });
    },
    ready: async () => (await node.getChainId()) === chainId,
    readyTimeoutMs: 30_000,
    afterStart: () => prepareChain(node, chain),
  });
  onStop(keepStateCopy(stateFile));
  if (!throwaway) onStop(slowDownWhenIdle(node, blockTimeSeconds));
  return { ...common, rpc, faucet: true };
}

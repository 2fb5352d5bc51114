import { rm, writeFile } from 'node:fs/promises';
import { loadRegistry } from '../src/chains/registry';
import { BitcoinDevNode } from './bitcoin';
import { devChain } from './chain';
import type { ChainFaults } from './chain-faults';
import { readJson } from './files';
import { devPaths } from './paths';
import { endProcess, processIdentity, until } from './processes';
import { LocalChainClient } from './solana/stack';
import type { StackChain, StackFile } from './stack-file';
import { SimulatorClient } from './tron/stack';

/** A request that the chain cannot serve; the message says why. */
export class FaultError extends Error {}

const restartTimeoutMs = 30_000;

/**
 * @param dataDir data folder of the running stack
 * @throws FaultError when no stack runs there, or it has no such local chain
 */
export function chainFaults(dataDir: string, name: string): ChainFaults {
  const paths = devPaths(dataDir);
  const read = () => readJson<StackFile>(paths.stackFile);
  const chain = read()?.chains[name];
  if (!chain) throw new FaultError(`there is no chain ${name}: is a stack running?`);
  if (!chain.faucet) throw new FaultError(`${name} is not a local chain: it has no faults on demand`);
  if (chain.family === 'evm') return evmFaults(chain, name);
  if (chain.family === 'tron') return new SimulatorClient(chain.rpc).faults;
  if (chain.family === 'solana') return new LocalChainClient(chain.rpc).faults;
  const restart = async () => {
    const pid = () => read()?.processes[`chain:${name}`]?.[0];
    const before = pid() ?? 0;
    // not killed, which would lose blocks
    await endProcess(before, processIdentity(before) ?? '', 'SIGINT', restartTimeoutMs);
    if (!(await until(() => pid() !== undefined && pid() !== before, restartTimeoutMs)))
      throw new FaultError(`${name} was not started again within ${restartTimeoutMs / 1_000} s`);
  };
  return bitcoinFaults(chain, delayFile(paths, name), restart);
}

/** Its presence stops the timer that makes the blocks of a chain whose node has none. */
export const delayFile = ({ chains }: Pick<ReturnType<typeof devPaths>, 'chains'>, name: string): string =>
  `${chains}/${name}.delayed`;

function evmFaults({ rpc }: StackChain, name: string): ChainFaults {
  const node = devChain(rpc);
  const { blockTimeMs } = loadRegistry('local', [name]).get(name);
  return {
    delay: () => node.setIntervalMining({ interval: 0 }),
    resume: () => node.setIntervalMining({ interval: Math.max(1, blockTimeMs / 1_000) }),
    mine: (blocks) => node.mine({ blocks }),
    drop: (id) => node.dropTransaction({ hash: id as `0x${string}` }),
    reorganise: (depth) => reorganise(node, depth),
  };
}

/** Replaces the newest blocks of an Anvil chain by empty ones. */
export async function reorganise(node: ReturnType<typeof devChain>, depth: number): Promise<void> {
  await node.request({ method: 'anvil_reorg', params: [depth, []] } as never);
}

function bitcoinFaults({ rpc }: StackChain, delayed: string, restart: () => Promise<void>): ChainFaults {
  const node = new BitcoinDevNode(rpc);
  return {
    delay: () => writeFile(delayed, ''),
    resume: () => rm(delayed, { force: true }),
    mine: async (blocks) => void (await node.mine(blocks)),
    drop: async () => {
      await restart();
      // at first the chain is empty
      const isBack = async () => (await node.height()) > 0;
      if (!(await until(isBack, restartTimeoutMs))) throw new FaultError('the node has not got its blocks back');
    },
    reorganise: (depth) => node.reorganise(depth),
  };
}

import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { rpcUrlsVariable } from '../src/chains/config';
import type { ChainDefinition } from '../src/chains/types';
import { BitcoinDevNode, isBitcoinReady } from './bitcoin';
import { btcdCommand, btcdUrl, findBtcd } from './btcd';
import { delayFile } from './faults';
import { getOrCreateSecret } from './files';
import { freePort } from './ports';
import { randomPassword } from '../src/cli/setup/new-secrets';
import { KeptBlocks } from './kept-blocks';
import type { ServicesContext } from './services';
import type { StackChain } from './stack-file';

const idleAfterMs = 5 * 60_000;
const idleBlockMs = 10_000;

/**
 * Starts btcd for a chain of the local profile, unless CHAIN_<NAME>_RPC_URLS is set.
 * @throws BtcdMissing
 */
export async function startBitcoinChain(
  { paths, supervisor, env, preferred, throwaway, onStop }: ServicesContext,
  chain: ChainDefinition,
  index: number,
  note: (text: string) => void,
): Promise<StackChain> {
  const common = { family: 'bitcoin', network: 'regtest', tokens: {} };
  const [given] = (env[rpcUrlsVariable(chain.name)] ?? '').split(',');
  if (given) return { ...common, rpc: given.trim(), faucet: false };

  const btcd = await findBtcd(note);
  const options = {
    rpcPort: await freePort(preferred(18334)),
    peerPort: await freePort(preferred(18444 + index)),
    password: getOrCreateSecret(paths.secrets, `btcd-${chain.name}`, randomPassword),
    folder: path.join(paths.chains, chain.name),
  };
  const rpc = btcdUrl(options);
  const node = new BitcoinDevNode(rpc);
  const kept = new KeptBlocks(node, path.join(paths.chains, `${chain.name}.blocks`));
  await supervisor.start({
    name: `chain-${chain.name}`,
    group: `chain:${chain.name}`,
    command: () => btcdCommand(btcd, options),
    ready: () => isBitcoinReady(rpc),
    readyTimeoutMs: 30_000,
    afterStart: async () => {
      await kept.restore();
      await node.prepare();
    },
    stopSignal: 'SIGINT',
  });
  const delayed = delayFile(paths, chain.name);
  rmSync(delayed, { force: true });
  onStop(mineOnTimer(node, kept, chain.blockTimeMs, { isAlwaysActive: throwaway, delayed }));
  return { ...common, rpc, faucet: true };
}

interface MiningOptions {
  isAlwaysActive: boolean;
  /** No block is made while there is this file. */
  delayed: string;
}

/** btcd mines when it is told to: regularly, and less often while nobody sends anything. Returns a function that ends it. */
function mineOnTimer(
  node: BitcoinDevNode,
  kept: KeptBlocks,
  blockTimeMs: number,
  { isAlwaysActive, delayed }: MiningOptions,
): () => void {
  let [lastActiveMs, lastBlockMs] = [Date.now(), Date.now()];
  let isMining = false;
  const mine = async (): Promise<void> => {
    await kept.keep();
    // an empty chain is about to be restored
    if (existsSync(delayed) || !kept.isReady || (await node.height()) === 0) return;
    if ((await node.pendingTransactions()) > 0) lastActiveMs = Date.now();
    const isIdle = !isAlwaysActive && Date.now() - lastActiveMs > idleAfterMs;
    if (isIdle && Date.now() - lastBlockMs < idleBlockMs) return;
    lastBlockMs = Date.now();
    await node.mine(1);
    await kept.keep();
  };
  const timer = setInterval(() => {
    if (isMining) return;
    isMining = true;
    // a node that was killed is started again
    void mine()
      .catch(() => undefined)
      .finally(() => (isMining = false));
  }, blockTimeMs);
  timer.unref();
  return () => clearInterval(timer);
}

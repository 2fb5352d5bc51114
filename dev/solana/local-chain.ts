import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Chain, type ChainOptions } from './chain';
import { Faults } from './faults';
import { genesis } from './genesis';
import { hashOf } from './history';
import { createLocalServer } from './http';
import { defaultTokens } from './parameters';
import { Store } from './store';
import { Svm } from './svm';

export interface LocalChainOptions extends ChainOptions {
  /** 0: any free one. */
  port: number;
  /** Milliseconds between slots. */
  slotMs: number;
  /** Slots pass by the clock. */
  isMining: boolean;
  genesisHash: string;
  /** Symbol to mint. */
  tokens: Record<string, string>;
  /** Undefined: the chain ends with the process. */
  stateFile: string | undefined;
}

export const defaults: LocalChainOptions = {
  ...{ port: 0, slotMs: 400, isMining: true, skipEvery: 20, confirmed: 2, finalized: 31 },
  ...{ genesisHash: hashOf('local Solana chain'), tokens: defaultTokens, stateFile: undefined },
};

export interface LocalChain {
  /** For createSolanaRpc of @solana/kit. */
  url: string;
  chain: Chain;
  stop: () => Promise<void>;
}

/**
 * Starts the local chain on 127.0.0.1.
 * @throws RangeError for lags that contradict each other
 */
export async function startLocalChain(options: Partial<LocalChainOptions> = {}): Promise<LocalChain> {
  const all = { ...defaults, ...options };
  const { port, slotMs, isMining, genesisHash, tokens } = all;
  if (all.confirmed > all.finalized)
    throw new RangeError('what is finalized is confirmed: the lag of confirmed is the smaller one');
  const chain = await openChain(all);
  const faults = new Faults();
  const server = createLocalServer({ chain, faults, tokens, genesisHash });
  await listen(server, port);
  const timer = setInterval(() => {
    if (isMining && !faults.isPaused) chain.tick();
  }, slotMs);
  const stop = async (): Promise<void> => {
    clearInterval(timer);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, chain, stop };
}

async function openChain({ stateFile, tokens, ...options }: LocalChainOptions): Promise<Chain> {
  const svm = new Svm();
  const store = stateFile === undefined ? undefined : new Store(stateFile);
  const stored = store?.load() ?? (await genesis(svm, tokens));
  for (const [key, account] of stored.accounts) svm.set(key, account);
  store?.begin(stored);
  return new Chain(svm, options, stored.entries, (change) => store?.note(change));
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => resolve());
  });
}

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Chain, type ChainOptions } from './chain';
import { Faults } from './faults';
import { defaultTokens, genesis } from './genesis';
import { createSimulatorServer } from './http';
import { chainLimits, mainnetParameters, type Parameters } from './parameters';
import { Store } from './store';

export interface SimulatorOptions {
  /** 0: any free one. */
  port: number;
  /** Milliseconds between blocks. */
  blockMs: number;
  /** A block is solidified when so many follow it. */
  solidLag: number;
  /** Transactions that wait for a block. */
  maxPending: number;
  /** Blocks are made by the clock. */
  isMining: boolean;
  parameters: Partial<Parameters>;
  /** Symbol to address. */
  tokens: Record<string, string>;
  /** Undefined: the chain ends with the process. */
  stateFile: string | undefined;
}

export const defaults: SimulatorOptions = {
  ...{
    port: 0,
    blockMs: 3_000,
    solidLag: 19,
    isMining: true,
    maxPending: chainLimits.pending,
    parameters: {},
    tokens: defaultTokens,
    stateFile: undefined,
  },
};

export interface Simulator {
  /** tronweb's fullHost. */
  url: string;
  chain: Chain;
  stop: () => Promise<void>;
}

/** Starts the simulator on 127.0.0.1. */
export async function startSimulator(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  const { port, isMining, tokens, ...rest } = { ...defaults, ...options };
  const { blockMs, solidLag, maxPending, stateFile } = rest;
  const chainOptions: ChainOptions = { blockMs, solidLag, maxPending, parameters: { ...mainnetParameters, ...rest.parameters } };
  const chain = await openChain(chainOptions, tokens, stateFile);
  const faults = new Faults();
  const server = createSimulatorServer({ chain, faults, tokens });
  await listen(server, port);
  let isBusy = false;
  const timer = setInterval(() => {
    if (!isMining || isBusy || faults.isPaused) return;
    isBusy = true;
    void chain
      .mine()
      .catch((error: unknown) => console.error('no block could be made:', error))
      .finally(() => (isBusy = false));
  }, blockMs);
  const stop = async (): Promise<void> => {
    clearInterval(timer);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    // what is under way is written
    await chain.serially(() => Promise.resolve());
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, chain, stop };
}

async function openChain(options: ChainOptions, tokens: Record<string, string>, stateFile: string | undefined): Promise<Chain> {
  if (!stateFile) return new Chain(options, await genesis(options, tokens));
  const store = new Store(stateFile);
  const data = store.load(options.solidLag) ?? (await genesis(options, tokens));
  store.begin(data);
  return new Chain(options, data, (change) => store.note(change));
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => resolve());
  });
}

import { ConfigError } from '../../platform/config';
import { rpcUrlsVariable } from '../config';
import { type CompareBlock, type Endpoint, EndpointList, once } from '../endpoints';
import { observeCalls } from '../observed-calls';
import type { ChainDefinition } from '../types';
import { createBatchedCall, createSingleCall, type RpcCall } from './batch';
import { parseChainId } from './chain-id';
import { createPost } from '../post';
import { NodeRefusal } from './refusal';

const timeoutMs = 5_000;
/** Of one client to one endpoint, of each kind; further requests wait. */
const maxConnections = 16;
/** Calls per HTTP request; public endpoints refuse more. */
const batchSize = 50;
/** 50 full blocks of a busy chain have about 30 MB. */
const maxResponseBytes = 64 * 1024 * 1024;
/** Of a call that is made at once. */
const maxAnswerBytes = 1024 * 1024;

export { NodeRefusal, type RpcCall };

/** One RPC endpoint. Its chain id is checked before its other responses are used. */
class RpcEndpoint implements Endpoint {
  readonly host: string;
  readonly call: RpcCall;
  /** In an HTTP request of its own: a batch waits for others. */
  readonly callAtOnce: RpcCall;
  readonly capabilities = new Map<string, unknown>();

  constructor(
    private readonly chain: ChainDefinition,
    url: string,
    private readonly position: number,
  ) {
    this.host = new URL(url).host;
    const observe = observeCalls({ chain: chain.name, url, isRefusal: (error) => error instanceof NodeRefusal });
    const observed =
      (call: RpcCall): RpcCall =>
      (method, params) =>
        observe(method, () => call(method, params));
    this.call = observed(
      createBatchedCall(createPost(url, { timeoutMs, maxConnections, maxBytes: maxResponseBytes }), batchSize),
    );
    this.callAtOnce = observed(createSingleCall(createPost(url, { timeoutMs, maxConnections, maxBytes: maxAnswerBytes })));
  }

  readonly identify = once(() => this.checkIdentity());

  private async checkIdentity(): Promise<void> {
    const chainId = Number(await this.call<string>('eth_chainId', []));
    const where = `${rpcUrlsVariable(this.chain.name)} entry ${this.position}`;
    if (chainId !== parseChainId(this.chain))
      throw new ConfigError(
        `${where} serves chain id ${chainId}, ${this.chain.name} (${this.chain.network}) has ${parseChainId(this.chain)}`,
      );
    if (this.chain.genesisHash !== null) {
      const genesis = await this.call<{ hash: string } | null>('eth_getBlockByNumber', ['0x0', false]);
      // null: a node that has pruned its first block is not refused for that
      if (genesis && genesis.hash.toLowerCase() !== this.chain.genesisHash)
        throw new ConfigError(
          `${where} serves a chain with another genesis block than ${this.chain.name} (${this.chain.network})`,
        );
    }
    if (this.chain.network !== 'local') return;
    // Local chains have the chain ids of production: without this check a local gateway could be connected to real funds.
    const version = await this.call<string>('web3_clientVersion', []);
    if (!/anvil|hardhat/i.test(version))
      throw new ConfigError(`${where} is not a development node, but the environment is local`);
  }
}

/** JSON-RPC codes of problems of the endpoint itself, those of its proxies included: another one may succeed. */
const endpointTroubles = new Set([-32002, -32005, -32011, -32012, -32016, -32097, -32601, -32603, 429]);

/** With the code of any refusal: what the endpoint lacks at the moment (go-ethereum, Erigon, Nethermind, Reth). */
const lacksBlocks = /header not found|missing trie node|(block|state|header) (is )?not (found|available)|unknown block|syncing/i;

/** The endpoint says nothing about the request. */
export const isEndpointTrouble = ({ code, nodeMessage }: NodeRefusal): boolean =>
  endpointTroubles.has(code) || lacksBlocks.test(nodeMessage);

/** The endpoints of one EVM chain. */
export class Endpoints {
  private readonly list: EndpointList<RpcEndpoint>;

  constructor(chain: ChainDefinition, urls: readonly string[]) {
    const endpoints = urls.map((url, index) => new RpcEndpoint(chain, url, index + 1));
    this.list = new EndpointList(chain, endpoints);
  }

  /**
   * `work` gets the endpoint's call function, a map for what it learns about the node (such as "has no trace_block"), and a call
   * function that does not wait for others to share an HTTP request with.
   * @throws as EndpointList.run
   */
  run<T>(
    work: (call: RpcCall, capabilities: Map<string, unknown>, callAtOnce: RpcCall) => Promise<T>,
    isPreferable?: () => boolean,
  ): Promise<T> {
    return this.list.run(({ call, capabilities, callAtOnce }) => work(call, capabilities, callAtOnce), isPreferable);
  }

  get host(): string {
    return this.list.host;
  }

  get size(): number {
    return this.list.size;
  }

  /** As EndpointList.blockComparison and EndpointList.runAtAll. */
  blockComparison(ask: (call: RpcCall, number: number) => Promise<string | null>): CompareBlock | undefined {
    return this.list.blockComparison(({ call }, number) => ask(call, number));
  }

  runAtAll<T>(work: (call: RpcCall) => Promise<T>): Promise<[T, ...T[]]> {
    return this.list.runAtAll(({ call }) => work(call));
  }

  /** As EndpointList.every and EndpointList.each. */
  every(says: (call: RpcCall) => Promise<boolean>): Promise<boolean> {
    return this.list.every(({ call }) => says(call));
  }

  each<T>(work: (call: RpcCall) => Promise<T>): Promise<(T | null)[]> {
    return this.list.each(({ call }) => work(call));
  }

  /** @throws ConfigError for the first endpoint that serves another chain. */
  verify(): Promise<void> {
    return this.list.verify();
  }
}

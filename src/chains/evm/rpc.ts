import { setTimeout as delay } from 'node:timers/promises';
import { createPublicClient, http, isHex, type PublicClient } from 'viem';
import { ConfigError } from '../../platform/config';
import { rpcUrlsVariable } from '../config';
import { type Comparison, type Endpoint, EndpointList, once } from '../endpoints';
import type { ChainDefinition, Hex } from '../types';
import { parseChainId } from './chain-id';
import { type Answer, createPost } from './post';

const timeoutMs = 5_000;
const retries = 1;
const retryDelayMs = 150;
/** Calls per HTTP request; public endpoints refuse more. */
const batchSize = 50;
/** 50 full blocks of a busy chain have about 30 MB. */
const maxResponseBytes = 64 * 1024 * 1024;
/** Of a call that is made at once. */
const maxAnswerBytes = 1024 * 1024;

/** A JSON-RPC error: the node responded and refused the request. */
export class NodeRefusal extends Error {
  override readonly name = 'NodeRefusal';
  constructor(
    readonly code: number,
    /** The node's message: never shown to clients nor put into errors, since nodes repeat calldata and urls in it. */
    readonly nodeMessage: string,
    /** What a contract has reverted with; null when the node shows nothing. */
    readonly data: Hex | null = null,
  ) {
    super(`the node refused with code ${code}`);
  }
}

/** Untyped JSON-RPC: blocks of the seven chains have different fields, which a strict parser would refuse. */
export type RpcCall = <T>(method: string, params: unknown[]) => Promise<T>;

/** One RPC endpoint. Its chain id is checked before its other responses are used. */
class RpcEndpoint implements Endpoint {
  private readonly client: PublicClient;
  private readonly post: (body: string) => Promise<Answer>;
  readonly capabilities = new Map<string, unknown>();

  constructor(
    private readonly chain: ChainDefinition,
    url: string,
    private readonly position: number,
  ) {
    const options = {
      timeout: timeoutMs,
      retryCount: retries,
      retryDelay: retryDelayMs,
      maxResponseBodySize: maxResponseBytes,
    };
    this.client = createPublicClient({ transport: http(url, { ...options, batch: { batchSize, wait: 0 } }) });
    this.post = createPost(url, { timeoutMs, maxBytes: maxAnswerBytes });
  }

  readonly call: RpcCall = (method, params) => request(this.client, method, params);

  /** In an HTTP request of its own: a batch waits for a timer, which takes longer than what a node on the same network needs. */
  readonly callAtOnce: RpcCall = async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    for (let tries = 0; ; tries += 1) {
      try {
        return readResult(await this.post(body));
      } catch (error) {
        if (error instanceof NodeRefusal || tries === retries) throw error;
      }
      await delay(retryDelayMs);
    }
  };

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

/** @throws NodeRefusal for a JSON-RPC error, which some nodes send with a status of its own; Error for what is no answer to a call. */
function readResult<T>({ status, text }: Answer): T {
  const { result, error } = parse(text) ?? {};
  if (typeof error?.code === 'number')
    throw new NodeRefusal(error.code, toText(error.message), isHex(error.data) ? error.data : null);
  if (status !== 200 || result === undefined) throw new Error(`no result (HTTP ${status})`);
  return result as T;
}

interface Response {
  result?: unknown;
  error?: { code?: unknown; message?: unknown; data?: unknown } | null;
}

function parse(text: string): Response | null {
  try {
    return JSON.parse(text) as Response | null;
  } catch {
    return null;
  }
}

/** Of a node's message, as much as is kept. */
const toText = (message: unknown): string => (typeof message === 'string' ? message.slice(0, 500) : '');

async function request<T>(client: PublicClient, method: string, params: unknown[]): Promise<T> {
  try {
    return await client.request({ method, params } as never);
  } catch (error) {
    throw withoutSecrets(error);
  }
}

/** viem's code for failures that are not JSON-RPC responses. */
const viemUnknownCode = -1;

/** Removes what viem adds to messages (the url with its API key, the request body with calldata). */
function withoutSecrets(error: unknown): Error {
  const { name, status } = (error ?? {}) as { name?: string; status?: number };
  const causes = getCauses(error);
  const refusal = causes.find(({ code }) => typeof code === 'number' && code !== viemUnknownCode);
  if (!refusal) return new Error(`${name ?? 'error'}${status ? ` (HTTP ${status})` : ''}`);
  const { code, details } = refusal;
  // viem's own error for the code does not repeat the data, which is in the one that it was made from
  const data = causes.map((cause) => cause.data).find((candidate) => isHex(candidate));
  return new NodeRefusal(code as number, toText(details), data ?? null);
}

interface Cause {
  code?: unknown;
  details?: unknown;
  data?: unknown;
  cause?: unknown;
}

/** The error itself and at most four that it was made from. */
function getCauses(error: unknown): Cause[] {
  const causes: Cause[] = [];
  for (let cause = error; typeof cause === 'object' && cause !== null && causes.length < 5; cause = (cause as Cause).cause)
    causes.push(cause);
  return causes;
}

/** JSON-RPC codes of problems of the endpoint itself, those of its proxies included: another one may succeed. */
const endpointTroubles = new Set([-32002, -32005, -32011, -32012, -32016, -32097, -32601, -32603, 429]);

/** The endpoint says nothing about the request. */
export const isEndpointTrouble = ({ code }: NodeRefusal): boolean => endpointTroubles.has(code);

/** The endpoints of one EVM chain. */
export class Endpoints {
  private readonly list: EndpointList<RpcEndpoint>;

  constructor(chain: ChainDefinition, urls: readonly string[]) {
    const endpoints = urls.map((url, index) => new RpcEndpoint(chain, url, index + 1));
    this.list = new EndpointList(chain, endpoints, (error) => error instanceof NodeRefusal && !isEndpointTrouble(error));
  }

  /**
   * `work` gets the endpoint's call function, a map for what it learns about the node (such as "has no trace_block"), and a call
   * function that does not wait for others to share an HTTP request with. A NodeRefusal thrown by `work` is passed on, unless its code stands for a problem of the endpoint.
   * @throws GatewayError chain_unavailable when no endpoint could do the work.
   */
  run<T>(work: (call: RpcCall, capabilities: Map<string, unknown>, callAtOnce: RpcCall) => Promise<T>): Promise<T> {
    return this.list.run(({ call, capabilities, callAtOnce }) => work(call, capabilities, callAtOnce));
  }

  get size(): number {
    return this.list.size;
  }

  /** As EndpointList.compare and EndpointList.runAtAll. */
  compare<T>(ask: (call: RpcCall) => Promise<T | null>, isSame: (answer: T) => boolean): Promise<Comparison> {
    return this.list.compare(({ call }) => ask(call), isSame);
  }

  runAtAll<T>(work: (call: RpcCall) => Promise<T>): Promise<[T, ...T[]]> {
    return this.list.runAtAll(({ call }) => work(call));
  }

  /** @throws ConfigError for the first endpoint that serves another chain. */
  verify(): Promise<void> {
    return this.list.verify();
  }
}

import { ConfigError } from '../../platform/config';
import { rpcUrlsVariable } from '../config';
import { once } from '../endpoints';
import { observeCalls } from '../observed-calls';
import type { Offered } from '../offer';
import type { ChainDefinition, Hex } from '../types';
import { readBytes, readHash, readHashes, readHeader, readHeight, readObject } from './answers';
import { type BitcoinBackend, feeTarget, type FoundTransaction } from './backend';
import { broadcastTo } from './broadcast';
import { blockMs } from './http';
import { createRpcCall, NodeRefusal, type RpcCall } from './rpc';

/** "Block number out of range" of btcd, "Block height out of range" of Bitcoin Core. */
const outOfRange = new Set([-1, -8]);
/** No such transaction or block. */
const notFound = -5;
const methodNotFound = -32601;

/** A node of Bitcoin Core with -txindex, or of btcd with --txindex. */
export class BitcoinNode implements BitcoinBackend {
  readonly host: string;
  private readonly call: RpcCall;

  /** `position`: of its url in the configuration, from 1. */
  constructor(
    private readonly chain: ChainDefinition,
    url: string,
    private readonly position: number,
  ) {
    this.host = new URL(url).host;
    const call = createRpcCall(url);
    const observe = observeCalls({ chain: chain.name, url, isRefusal: (error) => error instanceof NodeRefusal });
    this.call = (method, params, timeoutMs) => observe(method, () => call(method, params, timeoutMs));
  }

  readonly identify = once(() => this.checkIdentity());

  async height(): Promise<number> {
    return readHeight(await this.call('getblockcount', []));
  }

  async blockHash(height: number): Promise<string | null> {
    const hash = await this.call<unknown>('getblockhash', [height]).catch(asNone(outOfRange));
    return hash === none ? null : readHash(hash);
  }

  async block(hash: string): Promise<Buffer> {
    return readBytes(await this.call('getblock', [hash, 0], blockMs));
  }

  async header(hash: string): Promise<{ height: number; parentHash: string | null }> {
    return readHeader(await this.call('getblockheader', [hash, true]));
  }

  async findTransaction(id: string): Promise<FoundTransaction | null> {
    const found = await this.call<unknown>('getrawtransaction', [id, 1]).catch(asNone(new Set([notFound]), isIndexing));
    if (found === none) return null;
    const { txid, blockhash } = readObject(found);
    if (txid !== id) throw new Error('the answer is about another transaction');
    // btcd has an empty text for one that is in no block
    if (blockhash === undefined || blockhash === '') return { id, block: null };
    const hash = readHash(blockhash);
    const { height: number } = await this.header(hash);
    // a block that was reorganised away keeps its height
    return (await this.blockHash(number)) === hash ? { id, block: { number, hash } } : null;
  }

  async isUnspent(id: string, vout: number): Promise<boolean> {
    const found = await this.call<unknown>('gettxout', [id, vout, false]);
    return found !== null && readObject(found).confirmations !== 0;
  }

  async transaction(id: string): Promise<Buffer> {
    return readBytes(await this.call('getrawtransaction', [id, 0]));
  }

  async pool(): Promise<string[]> {
    return readHashes(await this.call('getrawmempool', [], blockMs));
  }

  async poolTransaction(id: string): Promise<Buffer | null> {
    const found = await this.call<unknown>('getrawtransaction', [id, 0]).catch(asNone(new Set([notFound])));
    return found === none ? null : readBytes(found);
  }

  send(bytes: Hex, id: string): Promise<Offered> {
    return broadcastTo(this.call, bytes, id, async () => (await this.findTransaction(id)) !== null);
  }

  async feeRate(): Promise<bigint | null> {
    const smart = await this.call<unknown>('estimatesmartfee', [feeTarget]).catch(asNone(new Set([methodNotFound])));
    // btcd, which refuses while it knows nothing
    const rate =
      smart === none ? await this.call<unknown>('estimatefee', [feeTarget]).catch(nullForRefusal) : readObject(smart).feerate;
    // coins per 1,000 virtual bytes: a rate is no amount, and is rounded anyway
    return typeof rate === 'number' && rate > 0 ? BigInt(Math.ceil(rate * 1e5)) : null;
  }

  private async checkIdentity(): Promise<void> {
    const where = `${rpcUrlsVariable(this.chain.name)} entry ${this.position}`;
    if ((await this.blockHash(0)) !== this.chain.genesisHash)
      throw new ConfigError(`${where} serves a chain with another genesis block than ${this.chain.name} (${this.chain.network})`);
    // without it an included transaction would look unknown; btcd does not tell
    const indexes = await this.call<unknown>('getindexinfo', []).catch(asNone(new Set([methodNotFound])));
    if (indexes === none) return;
    const { txindex } = readObject(indexes);
    if (txindex === undefined) throw new ConfigError(`${where} has no index of transactions: start it with -txindex`);
    // it is no mistake of the operator, and asked again before the next work
    if (readObject(txindex).synced !== true) throw new Error('the index of transactions is not complete yet');
  }
}

/** Of a node that has looked into its pool alone: what it does not find there may be in a block (Bitcoin Core, getrawtransaction). */
const isIndexing = ({ nodeMessage }: NodeRefusal): boolean => /being indexed|-txindex/i.test(nodeMessage);

/** In place of an answer; no JSON, so that no answer is taken for it. */
const none = Symbol('none');

const asNone =
  (codes: ReadonlySet<number>, isOther: (refusal: NodeRefusal) => boolean = () => false) =>
  (error: unknown): typeof none => {
    if (error instanceof NodeRefusal && codes.has(error.code) && !isOther(error)) return none;
    throw error;
  };

function nullForRefusal(error: unknown): null {
  if (error instanceof NodeRefusal) return null;
  throw error;
}

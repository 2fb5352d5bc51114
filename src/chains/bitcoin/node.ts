import { ConfigError } from '../../platform/config';
import { rpcUrlsVariable } from '../config';
import { once } from '../endpoints';
import type { BroadcastOutcome } from '../family';
import type { ChainDefinition, Hex } from '../types';
import { type BitcoinBackend, feeTarget, type FoundTransaction } from './backend';
import { broadcastTo } from './broadcast';
import { createRpcCall, NodeRefusal, type RpcCall } from './rpc';

/** "Block number out of range" of btcd, "Block height out of range" of Bitcoin Core. */
const outOfRange = new Set([-1, -8]);
/** No such transaction or block. */
const notFound = -5;
const methodNotFound = -32601;

/** A node of Bitcoin Core with -txindex, or of btcd with --txindex. */
export class BitcoinNode implements BitcoinBackend {
  private readonly call: RpcCall;

  /** `position`: of its url in the configuration, from 1. */
  constructor(
    private readonly chain: ChainDefinition,
    url: string,
    private readonly position: number,
  ) {
    this.call = createRpcCall(url);
  }

  readonly identify = once(() => this.checkIdentity());

  height(): Promise<number> {
    return this.call('getblockcount', []);
  }

  blockHash(height: number): Promise<string | null> {
    return this.call<string>('getblockhash', [height]).catch(nullFor(outOfRange));
  }

  async block(hash: string): Promise<Buffer> {
    return Buffer.from(await this.call<string>('getblock', [hash, 0]), 'hex');
  }

  async header(hash: string): Promise<{ height: number; parentHash: string | null }> {
    const { height, previousblockhash: parentHash = null } = await this.call<{ height: number; previousblockhash?: string }>(
      'getblockheader',
      [hash, true],
    );
    return { height, parentHash };
  }

  async findTransaction(id: string): Promise<FoundTransaction | null> {
    const found = await this.call<{ blockhash?: string }>('getrawtransaction', [id, 1]).catch(nullFor(new Set([notFound])));
    if (!found) return null;
    const { blockhash: hash } = found;
    if (!hash) return { id, block: null };
    const { height: number } = await this.header(hash);
    // a block that was reorganised away keeps its height
    return (await this.blockHash(number)) === hash ? { id, block: { number, hash } } : null;
  }

  async transaction(id: string): Promise<Buffer> {
    return Buffer.from(await this.call<string>('getrawtransaction', [id, 0]), 'hex');
  }

  send(bytes: Hex, id: string): Promise<BroadcastOutcome> {
    return broadcastTo(this.call, bytes, async () => (await this.findTransaction(id)) !== null);
  }

  async feeRate(): Promise<bigint | null> {
    const smart = await this.call<{ feerate?: number }>('estimatesmartfee', [feeTarget]).catch(
      nullFor(new Set([methodNotFound])),
    );
    // btcd, which refuses while it knows nothing
    const rate = smart ? smart.feerate : await this.call<number>('estimatefee', [feeTarget]).catch(nullForRefusal);
    // coins per 1,000 virtual bytes: a rate is no amount, and is rounded anyway
    return typeof rate === 'number' && rate > 0 ? BigInt(Math.ceil(rate * 1e5)) : null;
  }

  private async checkIdentity(): Promise<void> {
    const where = `${rpcUrlsVariable(this.chain.name)} entry ${this.position}`;
    if ((await this.call<string>('getblockhash', [0])) !== this.chain.genesisHash)
      throw new ConfigError(`${where} serves a chain with another genesis block than ${this.chain.name} (${this.chain.network})`);
    // without it an included transaction would look unknown; btcd does not tell
    const indexes = await this.call<object>('getindexinfo', []).catch(nullFor(new Set([methodNotFound])));
    if (indexes && !('txindex' in indexes))
      throw new ConfigError(`${where} has no index of transactions: start it with -txindex`);
  }
}

const nullFor =
  (codes: ReadonlySet<number>) =>
  (error: unknown): null => {
    if (error instanceof NodeRefusal && codes.has(error.code)) return null;
    throw error;
  };

function nullForRefusal(error: unknown): null {
  if (error instanceof NodeRefusal) return null;
  throw error;
}

import { decodeFunctionResult, encodeFunctionData, erc20Abi, getAddress, parseAbi } from 'viem';
import type { Hex } from '../types';
import { GatewayError } from '../../platform/errors';
import type { BlockScan, ChainClient, ExpectedTransfer, TransactionPlan } from '../adapter';
import type { ChainDefinition, FeeLevels, InclusionEffect, TransactionStatusOnChain } from '../types';
import { evmAdapter } from './adapter';
import { broadcastTo, type BroadcastOutcome } from './broadcast';
import { fetchEffects, type EffectRequest } from './effects';
import { Endpoints, NodeRefusal, unavailable, type RpcCall } from './rpc';
import { scanBlocks, type IsOurs } from './scan';
import { quantity, type RpcBlock, type RpcTransaction } from './rpc-types';

/** Widest range of one scan. */
export const maxScanRange = 50;

/** Predeploy of the OP stack that prices the L1 data of a transaction (specs.optimism.io, predeploys). */
const gasPriceOracle = '0x420000000000000000000000000000000000000F';
const gasPriceOracleAbi = parseAbi(['function getL1Fee(bytes data) view returns (uint256)']);
/** Addresses that compress badly, as real ones do: an estimate over zero bytes would be too low. */
const sampleParties = {
  from: '0x9f3A1cE4b27D5068Fb1c93Ed4A7e2B60d58C7fA1',
  to: '0x5Bc2e97D04a8F61e3C7B90fD2A6548eC1f73d0E9',
  token: '0xD7a4C0b95E1f82637Ac94De05F3b186Cd279E8A4',
} as const;

/** An EVM chain over JSON-RPC; see ChainClient for what each method promises. */
export class EvmChainClient implements ChainClient {
  private readonly endpoints: Endpoints;

  constructor(
    readonly chain: ChainDefinition,
    urls: readonly string[],
  ) {
    this.endpoints = new Endpoints(chain, urls);
  }

  verifyIdentity(): Promise<void> {
    return this.endpoints.verify();
  }

  head(): Promise<{ number: number }> {
    return this.ask(async (call) => ({ number: Number(await call<Hex>('eth_blockNumber', [])) }));
  }

  feeLevels(): Promise<FeeLevels> {
    return this.ask(async (call) => {
      const [block, price, tip, l1DataFee] = await Promise.all([
        call<RpcBlock>('eth_getBlockByNumber', ['latest', false]),
        call<Hex>('eth_gasPrice', []),
        call<Hex>('eth_maxPriorityFeePerGas', []).catch(() => null),
        this.l1Fee(call, this.sampleTransfer()),
      ]);
      const baseFee = block.baseFeePerGas === undefined ? null : BigInt(block.baseFeePerGas);
      const gasPrice = BigInt(price);
      // without the method the tip is what the suggested price has beside the base fee
      const suggested = tip === null ? (baseFee !== null && gasPrice > baseFee ? gasPrice - baseFee : 0n) : BigInt(tip);
      return { baseFee, priorityFee: baseFee === null ? null : suggested, gasPrice, l1DataFee };
    });
  }

  minedNonce(address: string): Promise<number> {
    return this.ask(async (call) => Number(await call<Hex>('eth_getTransactionCount', [address, 'latest'])));
  }

  /** @throws GatewayError reverted_on_chain when the node says the transfer would fail. */
  async estimateGas({
    from,
    to,
    tokenContract,
    amount,
  }: Pick<TransactionPlan, 'from' | 'to' | 'tokenContract' | 'amount'>): Promise<bigint> {
    const request =
      tokenContract === null
        ? { from, to, value: quantity(amount) }
        : {
            from,
            to: tokenContract,
            data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [getAddress(to), amount] }),
          };
    try {
      // not on top of the pool, as some nodes do by default: an earlier attempt of this very transfer may wait there
      return await this.endpoints.run(async (call) => BigInt(await call<Hex>('eth_estimateGas', [request, 'latest'])));
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error;
      if (error.code === 3 || /revert/i.test(error.said))
        throw new GatewayError('reverted_on_chain', `${this.chain.name} would revert this transfer`);
      throw unavailable(this.chain, 'the node could not estimate the gas', error);
    }
  }

  l1DataFee(unsigned: Hex): Promise<bigint> {
    return this.ask((call) => this.l1Fee(call, unsigned));
  }

  broadcast(bytes: Hex): Promise<BroadcastOutcome> {
    return this.ask((call) => broadcastTo(call, bytes));
  }

  /**
   * Impossible is concluded from one node alone: at finality depth the sender's nonce had passed this one, and asked
   * afterwards the node has none of the hashes. Needs the state of that block: a node that has pruned it proves nothing, and
   * the answer is then absent.
   */
  status(
    hashes: Hex[],
    nonce: number,
    from: string,
    movement: ExpectedTransfer,
  ): Promise<TransactionStatusOnChain & { hash?: Hex }> {
    return this.ask(async (call) => {
      const head = Number(await call<Hex>('eth_blockNumber', []));
      const finalBlock = head - this.chain.finalityDepth + 1;
      const finalNonce = finalBlock < 0 ? 0 : await nonceAt(call, from, finalBlock);
      const effects = await fetchEffects(
        call,
        hashes.map((hash) => ({ hash, movement })),
      );
      for (const [hash, effect] of effects) {
        const canonical = await call<RpcBlock | null>('eth_getBlockByNumber', [quantity(effect.blockNumber), false]);
        if (canonical?.hash === effect.blockHash)
          return { state: 'included', depth: Math.max(1, head - effect.blockNumber + 1), effect, hash };
      }
      const known = await Promise.all(hashes.map((hash) => call<RpcTransaction | null>('eth_getTransactionByHash', [hash])));
      const pending = hashes.find((_, index) => known[index] !== null);
      if (pending) return { state: 'pending', hash: pending };
      if (finalNonce > nonce)
        return { state: 'impossible', proof: `at block ${finalBlock} the sender's nonce was ${finalNonce}, past ${nonce}` };
      return { state: 'absent' };
    });
  }

  effects(items: EffectRequest[]): Promise<Map<Hex, InclusionEffect>> {
    return items.length === 0 ? Promise.resolve(new Map<Hex, InclusionEffect>()) : this.ask((call) => fetchEffects(call, items));
  }

  block(number: number): Promise<{ number: number; hash: string; parentHash: string } | null> {
    return this.ask(async (call) => {
      const block = await call<RpcBlock | null>('eth_getBlockByNumber', [quantity(number), false]);
      return block && { number: Number(block.number), hash: block.hash, parentHash: block.parentHash };
    });
  }

  scan(from: number, to: number, isOurs: IsOurs): Promise<BlockScan[]> {
    if (from < 0 || to < from || to - from >= maxScanRange) throw new RangeError(`a scan covers 1 to ${maxScanRange} blocks`);
    const lookUp: IsOurs = (keys) =>
      isOurs(keys).catch((error: unknown) => {
        // not the endpoint's fault: another one must not be tried for it
        throw error instanceof GatewayError
          ? error
          : new GatewayError('unavailable', 'The look-up of deposit addresses failed', { cause: error });
      });
    return this.endpoints
      .run((call, facts) => scanBlocks(call, this.chain, { from, to }, lookUp, facts))
      .catch((error: unknown) => this.refused(error));
  }

  private ask<T>(work: (call: RpcCall) => Promise<T>): Promise<T> {
    return this.endpoints.run(work).catch((error: unknown) => this.refused(error));
  }

  private refused(error: unknown): never {
    throw error instanceof NodeRefusal ? unavailable(this.chain, 'the node refused a request', error) : error;
  }

  /** With a quarter on top: the price moves until the transaction is included. */
  private async l1Fee(call: RpcCall, unsigned: Hex): Promise<bigint> {
    if (!this.chain.l1DataFee) return 0n;
    const data = encodeFunctionData({ abi: gasPriceOracleAbi, functionName: 'getL1Fee', args: [unsigned] });
    const answer = await call<Hex>('eth_call', [{ to: gasPriceOracle, data }, 'latest']);
    if (answer === '0x') {
      // development nodes have no predeploys unless one is put there
      if (this.chain.network === 'local') return 0n;
      throw unavailable(this.chain, 'the gas price oracle does not answer');
    }
    const fee = decodeFunctionResult({ abi: gasPriceOracleAbi, functionName: 'getL1Fee', data: answer });
    return fee + fee / 4n;
  }

  private sampleTransfer(): Hex {
    return evmAdapter.build({
      chainId: this.chain.chainId,
      kind: 'first',
      nonce: 54_321,
      from: sampleParties.from,
      to: sampleParties.to.toLowerCase(),
      tokenContract: sampleParties.token.toLowerCase(),
      amount: 123_456_789_012_345_678_901n,
      gasLimit: 123_456n,
      maxFeePerGas: 12_345_678_901n,
      maxPriorityFeePerGas: 1_234_567_891n,
      gasPrice: null,
    });
  }
}

/** 0 when the node no longer has the state of that block: nothing is proven then. */
async function nonceAt(call: RpcCall, address: string, block: number): Promise<number> {
  try {
    return Number(await call<Hex>('eth_getTransactionCount', [address, quantity(block)]));
  } catch (error) {
    if (error instanceof NodeRefusal) return 0;
    throw error;
  }
}

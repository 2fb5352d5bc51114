import { GatewayError } from '../../platform/errors';
import { within } from '../../platform/within';
import { NotEstimated, orNotEstimated, unavailable } from '../endpoints';
import type {
  AttemptStatus,
  BroadcastOutcome,
  ChainBlock,
  ChainClient,
  EffectRequest,
  ForeignState,
  ForeignTransaction,
  IsOurs,
  KnownAttempt,
  PrepareRequest,
  Reservation,
  ScanResult,
} from '../chain-client';
import { offer } from '../offer';
import type { ChainDefinition, FeeLevels, Hex, InclusionEffect, Prepared, TransactionIntent } from '../types';
import { unavailableAsNotEstimated } from '../unanswered';
import { prepareAuthorisation } from './authorise/prepare';
import { fetchBalance } from './balance';
import { DoubtfulRefusal } from './batch';
import { broadcastTo } from './broadcast';
import { encodeIntent, evmCodec } from './codec';
import { toPrepared } from './details';
import { fetchEffects, fetchWholeEffect } from './effects';
import { assertBelievable, encodeLevels, type EvmFeeLevels, gasLimitFrom, highestGas, planFees } from './fees';
import { fetchForeignState } from './foreign-state';
import { fetchL1Fee } from './l1-fee';
import { Endpoints, isEndpointTrouble, NodeRefusal, type RpcCall } from './rpc';
import { Scanner } from './scan/scanner';
import { quantity, type RpcBlock } from './rpc-types';
import { askStatus } from './status';

/** Largest number of blocks in one scan. */
const maxScanRange = 50;

/** For an estimate at all endpoints, each of which has 10 s: within the 20 s of the step that asks. */
const estimatesMs = 15_000;

/** Addresses that compress as badly as real ones: an estimate over zero bytes would be too low. */
const sampleParties = {
  from: '0x9f3A1cE4b27D5068Fb1c93Ed4A7e2B60d58C7fA1',
  to: '0x5Bc2e97D04a8F61e3C7B90fD2A6548eC1f73d0E9',
  token: '0xD7a4C0b95E1f82637Ac94De05F3b186Cd279E8A4',
} as const;

/** An EVM chain over JSON-RPC; the methods are documented in ChainClient. */
export class EvmChainClient implements ChainClient {
  readonly compareBlock: ChainClient['compareBlock'];
  private readonly endpoints: Endpoints;
  private readonly scanner: Scanner;

  constructor(
    readonly chain: ChainDefinition,
    urls: readonly string[],
  ) {
    this.endpoints = new Endpoints(chain, urls);
    this.scanner = new Scanner(chain, this.endpoints);
    this.compareBlock = this.endpoints.blockComparison(async (call, number) => (await fetchBlock(call, number))?.hash ?? null);
  }

  get endpoint(): string {
    return this.endpoints.host;
  }

  verifyIdentity(): Promise<void> {
    return this.endpoints.verify();
  }

  head(): Promise<{ number: number }> {
    return this.ask(async (call) => ({ number: Number(await call<Hex>('eth_blockNumber', [])) }));
  }

  async feeLevels(): Promise<FeeLevels> {
    return encodeLevels(await this.levels());
  }

  prepare(request: PrepareRequest): Promise<Prepared> {
    const { intent } = request;
    const { action } = intent;
    return orNotEstimated(this.chain, () =>
      action?.type === 'authorisation'
        ? this.ask((call) => prepareAuthorisation(call, this.chain, intent, action))
        : this.prepareTransaction(request),
    );
  }

  private async prepareTransaction({ kind, intent, previous }: PrepareRequest): Promise<Prepared> {
    const isCancellation = kind === 'cancellation';
    const last = previous.at(-1)?.unsigned ?? null;
    // an attempt that nobody has signed is in no pool: there is nothing to outbid
    const outbid = previous.findLast(({ ids }) => ids.length > 0)?.unsigned ?? null;
    const late = () => unavailable(this.chain, 'no RPC endpoint has estimated the gas', new Error('no response in time'));
    const estimating = within(this.estimateGas(intent), estimatesMs, late);
    // it is waited for after the others
    estimating.catch(() => undefined);
    const [levels, minedNonce] = await Promise.all([
      this.levels(),
      // of a later attempt the nonce is fixed
      last === null ? this.highestMinedNonce(intent.from) : this.minedNonce(intent.from),
    ]);
    const estimate = await unavailableAsNotEstimated(this.chain, estimating).catch((error: unknown) => {
      // an earlier attempt may just have been executed and have spent what a second one would need
      if (isCancellation || last === null || !(error instanceof GatewayError)) throw error;
      return 0n;
    });
    // nodes compare prices, not gas limits: a cancellation does not need the gas of the attempt it replaces
    const gasLimit = gasLimitFrom(estimate, isCancellation ? null : last, highestGas(this.chain, intent));
    const details = { gasLimit, ...planFees(levels, outbid), minedNonce };
    const draft = toPrepared(details, 0n);
    const unsigned = evmCodec.build({ chain: this.chain, intent, kind, prepared: draft, resources: [String(minedNonce)] });
    return toPrepared(details, await this.l1DataFee(unsigned));
  }

  /**
   * Current fee levels, with the L1 data fee of a typical transfer.
   * @throws GatewayError chain_unavailable, also when no endpoint reports what can be believed.
   */
  levels(): Promise<EvmFeeLevels> {
    return this.ask(async (call) => {
      const [block, price, tip, l1DataFee] = await Promise.all([
        call<RpcBlock>('eth_getBlockByNumber', ['latest', false]),
        call<Hex>('eth_gasPrice', []),
        call<Hex>('eth_maxPriorityFeePerGas', []).catch(() => null),
        fetchL1Fee(call, this.chain, this.sampleTransfer()),
      ]);
      const baseFee = block.baseFeePerGas === undefined ? null : BigInt(block.baseFeePerGas);
      const gasPrice = BigInt(price);
      // without the method: the part of the suggested price above the base fee
      const suggested = tip === null ? (baseFee !== null && gasPrice > baseFee ? gasPrice - baseFee : 0n) : BigInt(tip);
      const levels = { baseFee, priorityFee: baseFee === null ? null : suggested, gasPrice, l1DataFee };
      assertBelievable(this.chain, levels);
      return levels;
    });
  }

  /** Number of mined transactions of the sender: all lower nonces are used up. */
  minedNonce(address: string): Promise<number> {
    return this.ask(async (call) => Number(await call<Hex>('eth_getTransactionCount', [address, 'latest'])));
  }

  usedOrdinals(address: string): Promise<bigint> {
    return this.ask(async (call) => {
      const head = Number(await call<Hex>('eth_blockNumber', []));
      const final = head - this.chain.finalityDepth + 1;
      if (final < 0) return 0n;
      try {
        return BigInt(await call<Hex>('eth_getTransactionCount', [address, quantity(final)]));
      } catch (error) {
        // another endpoint may have it
        throw error instanceof NodeRefusal ? new Error('it lacks the state of the final block') : error;
      }
    });
  }

  /**
   * @throws GatewayError would_revert when the node reports that the transfer would fail, or that it needs too much gas; not_estimated when all
   * that answer refuse in words that are not known.
   */
  async estimateGas(intent: TransactionIntent): Promise<bigint> {
    const [estimate, highest] = [await this.askForGas(intent), highestGas(this.chain, intent)];
    if (estimate <= highest) return estimate;
    throw new GatewayError('would_revert', `It needs ${estimate} gas on ${this.chain.name}, no more than ${highest} is used`);
  }

  private async askForGas(intent: TransactionIntent): Promise<bigint> {
    const { to, value, data } = encodeIntent(intent);
    const request = { from: intent.from, to, value: quantity(value), ...(data && { data }) };
    const { name } = this.chain;
    // on the latest block and not on the pool, as some nodes do by default: an earlier attempt of this transfer may be pending
    // in a request of its own: one that hangs, or fails a whole request, takes no other answer with it
    return this.endpoints.run((_call, _capabilities, callAtOnce) =>
      callAtOnce<Hex>('eth_estimateGas', [request, 'latest']).then(BigInt, (thrown: unknown) => {
        const error = thrown instanceof DoubtfulRefusal ? thrown.refusal : thrown;
        if (!(error instanceof NodeRefusal)) throw error;
        // nodes give it codes that stand for a trouble of their own, too
        if (isRevert(error)) throw new GatewayError('would_revert', `${name} would revert this transfer`);
        // says nothing about the transfer: counts where no other one says anything
        if (isEndpointTrouble(error)) throw error;
        // another endpoint may not share what this one says, as one that lags
        throw new NotEstimated(`The nodes of ${name} could not estimate the gas of this transfer (code ${error.code})`);
      }),
    );
  }

  /** Upper estimate with margin; 0n where the chain charges none. */
  l1DataFee(unsigned: Hex): Promise<bigint> {
    return this.ask((call) => fetchL1Fee(call, this.chain, unsigned));
  }

  broadcast(bytes: Hex): Promise<BroadcastOutcome> {
    return offer(this.endpoints, (call: RpcCall) => broadcastTo(call, bytes));
  }

  foreignState(transaction: ForeignTransaction): Promise<ForeignState> {
    return this.ask((call) => fetchForeignState(call, this.chain, transaction));
  }

  status(attempts: KnownAttempt[], reservations: Reservation[]): Promise<AttemptStatus[]> {
    return attempts.length === 0 ? Promise.resolve([]) : askStatus(this.asking, this.chain, attempts, reservations);
  }

  effects(items: EffectRequest[]): Promise<Map<string, InclusionEffect | null>> {
    return items.length === 0
      ? Promise.resolve(new Map<string, InclusionEffect | null>())
      : this.ask((call) => fetchEffects(call, items));
  }

  effectAtEach(item: EffectRequest): Promise<(InclusionEffect | null)[]> {
    return this.endpoints.each((call) => fetchWholeEffect(call, item));
  }

  balance(address: string, token: string | null): Promise<bigint> {
    return this.ask((call) => fetchBalance(call, address, token));
  }

  block(number: number): Promise<ChainBlock | null> {
    return this.ask((call) => fetchBlock(call, number));
  }

  scan(from: number, to: number, isOurs: IsOurs): Promise<ScanResult> {
    if (from < 0 || to < from || to - from >= maxScanRange) throw new RangeError(`a scan covers 1 to ${maxScanRange} blocks`);
    return this.scanner.scan({ from, to }, isOurs);
  }

  private get asking() {
    const { size } = this.endpoints;
    return {
      size,
      run: <T>(work: (call: RpcCall) => Promise<T>) => this.ask(work),
      each: <T>(work: (call: RpcCall) => Promise<T>) => this.endpoints.each(work),
    };
  }

  private ask<T>(work: (call: RpcCall) => Promise<T>): Promise<T> {
    return this.endpoints.run(work);
  }

  /** The highest count that an endpoint shows: what one of them has seen of a sender's transactions has happened. */
  private async highestMinedNonce(address: string): Promise<number> {
    const count = async (call: RpcCall) => {
      const answer = Number(await call<Hex>('eth_getTransactionCount', [address, 'latest']));
      if (!Number.isSafeInteger(answer)) throw new Error('the endpoint responded with a count that is no number');
      return answer;
    };
    return Math.max(...(await this.endpoints.runAtAll(count)));
  }

  private sampleTransfer(): Hex {
    const fees = { gasLimit: 123_456n, maxFeePerGas: 12_345_678_901n, maxPriorityFeePerGas: 1_234_567_891n, gasPrice: null };
    const recipient = sampleParties.to.toLowerCase();
    const output = { recipient, tokenContract: sampleParties.token.toLowerCase(), amount: 123_456_789_012_345_678_901n };
    return evmCodec.build({
      chain: this.chain,
      intent: { from: sampleParties.from, outputs: [output] },
      kind: 'first',
      prepared: toPrepared({ ...fees, minedNonce: 0 }, 0n),
      resources: ['54321'],
    });
  }
}

const isRevert = ({ code, nodeMessage }: NodeRefusal): boolean => code === 3 || /revert/i.test(nodeMessage);

async function fetchBlock(call: RpcCall, number: number): Promise<ChainBlock | null> {
  const block = await call<RpcBlock | null>('eth_getBlockByNumber', [quantity(number), false]);
  return block && { number: Number(block.number), hash: block.hash, parentHash: block.parentHash };
}

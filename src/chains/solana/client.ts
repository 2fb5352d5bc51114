import { fromHex } from '../../platform/hex';
import type {
  AttemptStatus,
  BroadcastOutcome,
  ChainBlock,
  ChainClient,
  EffectRequest,
  EndpointView,
  ForeignState,
  ForeignTransaction,
  ImpossibilityProver,
  IsOurs,
  KnownAttempt,
  PrepareRequest,
  ScanResult,
} from '../chain-client';
import { EndpointList, orNotEstimated } from '../endpoints';
import { offer } from '../offer';
import { endingScan } from '../scan-look-up';
import { Proofs } from '../proofs';
import { Paces } from '../request-rate';
import type { ChainDefinition, FeeLevels, Hex, InclusionEffect, Prepared } from '../types';
import { prepareAuthorisation } from './authorise/prepare';
import { fetchBalance } from './balance';
import { sendTo } from './broadcast';
import { findEffect, findWholeEffect } from './effects';
import { Walks } from './expiry';
import { assertBelievable, encodeLevels } from './fees';
import { readForeign } from './foreign';
import { fetchPrice } from './levels';
import { SolanaNode } from './node';
import { prepareTransfer } from './prepare';
import { prepareSettlement } from './prepare-settlement';
import { scanBlocks } from './scan';
import { askStatus, proveAt } from './status';

/** Largest number of slots in one scan. */
const maxScanRange = 50;

/** A Solana chain over JSON-RPC. Blocks are finalized, and numbered by their slots; the methods are documented in ChainClient. */
export class SolanaChainClient implements ChainClient, ImpossibilityProver {
  readonly compareBlock: ChainClient['compareBlock'];
  private readonly endpoints: EndpointList<SolanaNode>;
  private readonly found = { proofs: new Proofs(), walks: new Walks() };

  constructor(
    readonly chain: ChainDefinition,
    urls: readonly string[],
    paces = new Paces(),
  ) {
    const nodes = urls.map((url, index) => new SolanaNode(chain, url, index + 1, paces));
    this.endpoints = new EndpointList(chain, nodes);
    this.compareBlock = this.endpoints.blockComparison(async (node, number) => (await fetchBlock(node, number))?.hash ?? null);
  }

  get endpoint(): string {
    return this.endpoints.host;
  }

  verifyIdentity(): Promise<void> {
    return this.endpoints.verify();
  }

  head(): Promise<{ number: number }> {
    return this.endpoints.run(async (node) => ({ number: await node.slot() }));
  }

  firstBlock(): Promise<number> {
    return this.endpoints.run((node) => node.firstSlot());
  }

  /** Those of any payment: what its accounts cost is asked when it is prepared. */
  feeLevels(): Promise<FeeLevels> {
    return this.endpoints.run(async (node) => {
      const price = await fetchPrice(node, []);
      assertBelievable(price);
      return encodeLevels({ price });
    });
  }

  prepare({ intent }: PrepareRequest): Promise<Prepared> {
    const prepare = intent.action?.type === 'authorisation' ? prepareAuthorisation : prepareTransfer;
    return orNotEstimated(this.chain, () =>
      intent.action?.type === 'settlement'
        ? prepareSettlement(this.endpoints, this.chain, intent)
        : this.endpoints.run((node) => prepare(node, this.chain, intent)),
    );
  }

  status(attempts: KnownAttempt[]): Promise<AttemptStatus[]> {
    return attempts.length === 0 ? Promise.resolve([]) : askStatus(this.endpoints, this.chain, attempts, this.found);
  }

  proveImpossible(unsigned: Hex, begunAt: Date | null): Promise<EndpointView | null> {
    return this.endpoints.run((node) => proveAt(node, this.chain, unsigned, begunAt));
  }

  broadcast(bytes: Hex): Promise<BroadcastOutcome> {
    const { id } = readForeign(fromHex(bytes), []);
    return offer(this.endpoints, (node) => sendTo(node, bytes, id));
  }

  balance(address: string, token: string | null): Promise<bigint> {
    return this.endpoints.run((node) => fetchBalance(node, address, token));
  }

  /** Transactions have no order. */
  usedOrdinals(): Promise<null> {
    return Promise.resolve(null);
  }

  /** Nobody signs anything for the gateway to send here. */
  foreignState({ id }: ForeignTransaction): Promise<ForeignState> {
    return this.endpoints.run(async (node) => ((await node.transaction(id)) ? 'executed' : 'absent'));
  }

  effects(items: EffectRequest[]): Promise<Map<string, InclusionEffect>> {
    return this.endpoints.run(async (node) => {
      const found = await Promise.all(items.map(async (item) => [item.id, await findEffect(node, item)] as const));
      return new Map(found.flatMap(([id, effect]) => (effect ? [[id, effect]] : [])));
    });
  }

  effectAtEach(item: EffectRequest): Promise<(InclusionEffect | null)[]> {
    return this.endpoints.each((node) => findWholeEffect(node, item));
  }

  block(number: number): Promise<ChainBlock | null> {
    return this.endpoints.run((node) => fetchBlock(node, number));
  }

  scan(from: number, to: number, isOurs: IsOurs): Promise<ScanResult> {
    if (from < 0 || to < from || to - from >= maxScanRange) throw new RangeError(`a scan covers 1 to ${maxScanRange} blocks`);
    return this.endpoints.run((node) => scanBlocks(node, { from, to }, endingScan(isOurs)));
  }
}

async function fetchBlock(node: SolanaNode, number: number): Promise<ChainBlock | null> {
  const header = number <= (await node.slot()) ? await node.header(number) : null;
  return header && { number, hash: header.blockhash, parentHash: header.parentHash };
}

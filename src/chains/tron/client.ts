import { fromHex } from '../../platform/hex';
import { mapBounded } from '../../platform/map-bounded';
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
import { EndpointList, NotEstimated, orNotEstimated } from '../endpoints';
import { offer } from '../offer';
import { endingScan } from '../scan-look-up';
import { Proofs } from '../proofs';
import { Paces } from '../request-rate';
import type { ChainDefinition, FeeLevels, Hex, InclusionEffect, Prepared } from '../types';
import { fetchBalance } from './balance';
import { sendTo } from './broadcast';
import { sha256 } from './codec/base58';
import { readFields } from './codec/fields';
import { NotExecuted } from './constant-call';
import { findEffect, findWholeEffect } from './effects';
import { encodeLevels } from './fees';
import { fetchLevels } from './levels';
import { TronNode } from './node';
import { prepareTransfer } from './prepare';
import { scanAtAny, scanBlocks } from './scan';
import { askStatus, proveAt, type Sight } from './status';

/** Largest number of blocks in one scan. */
const maxScanRange = 50;
const effectsAtOnce = 10;

/** A Tron chain over the HTTP API of java-tron. Blocks are those of the solidified chain; the methods are documented in ChainClient. */
export class TronChainClient implements ChainClient, ImpossibilityProver {
  readonly compareBlock: ChainClient['compareBlock'];
  private readonly endpoints: EndpointList<TronNode>;
  private readonly proofs = new Proofs();

  /** `now`: the gateway's own clock, milliseconds since the epoch; what has not expired by it is not proven impossible. */
  constructor(
    readonly chain: ChainDefinition,
    urls: readonly string[],
    private readonly now: () => number = Date.now,
    paces = new Paces(),
  ) {
    const nodes = urls.map((url, index) => new TronNode(chain, url, index + 1, now, paces));
    this.endpoints = new EndpointList(chain, nodes);
    this.compareBlock = this.endpoints.blockComparison(async (node, number) => (await node.solidHeader(number))?.id ?? null);
  }

  get endpoint(): string {
    return this.endpoints.host;
  }

  verifyIdentity(): Promise<void> {
    return this.endpoints.verify();
  }

  head(): Promise<{ number: number }> {
    return this.endpoints.run(async (node) => ({ number: (await node.solidHead()).number }));
  }

  feeLevels(): Promise<FeeLevels> {
    return this.endpoints.run(async (node) => encodeLevels(await fetchLevels(node, this.chain)));
  }

  prepare({ intent }: PrepareRequest): Promise<Prepared> {
    const { name } = this.chain;
    return orNotEstimated(this.chain, () =>
      this.endpoints.run((node) =>
        prepareTransfer(node, this.chain, intent).catch((error: unknown) => {
          if (!(error instanceof NotExecuted)) throw error;
          throw new NotEstimated(`The nodes of ${name} could not execute this transfer to see what it takes`);
        }),
      ),
    );
  }

  status(attempts: KnownAttempt[]): Promise<AttemptStatus[]> {
    return attempts.length === 0 ? Promise.resolve([]) : askStatus(this.sight, attempts, this.proofs);
  }

  proveImpossible(unsigned: Hex): Promise<EndpointView | null> {
    return this.endpoints.run((node) => proveAt(node, this.sight, unsigned));
  }

  private get sight(): Sight {
    return { endpoints: this.endpoints, chain: this.chain, now: this.now };
  }

  /**
   * A refusal counts at once where every node would refuse, else where no other one takes it. What has expired, or refers to a block that is
   * gone, is waited for: proof that it never was executed comes with its expiration, and then another transaction takes its place.
   */
  broadcast(bytes: Hex): Promise<BroadcastOutcome> {
    const id = sha256(readFields(fromHex(bytes)).bytes(1)).toString('hex');
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
    return this.endpoints.run(async (node) => ((await node.findReceipt(id)) ? 'executed' : 'absent'));
  }

  effects(items: EffectRequest[]): Promise<Map<string, InclusionEffect>> {
    return this.endpoints.run(async (node) => {
      const found = await mapBounded(items, effectsAtOnce, async (item) => [item.id, await findEffect(node, item)] as const);
      return new Map(found.flatMap(([id, solidified]) => (solidified ? [[id, solidified.effect]] : [])));
    });
  }

  effectAtEach(item: EffectRequest): Promise<(InclusionEffect | null)[]> {
    return this.endpoints.each((node) => findWholeEffect(node, item));
  }

  block(number: number): Promise<ChainBlock | null> {
    return this.endpoints.run(async (node) => {
      const header = await node.solidHeader(number);
      return header && { number, hash: header.id, parentHash: header.parentId };
    });
  }

  scan(from: number, to: number, isOurs: IsOurs): Promise<ScanResult> {
    if (from < 0 || to < from || to - from >= maxScanRange) throw new RangeError(`a scan covers 1 to ${maxScanRange} blocks`);
    return scanAtAny(this.endpoints, (node) => scanBlocks(node, this.chain, { from, to }, endingScan(isOurs)));
  }
}

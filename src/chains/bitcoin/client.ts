import { fromHex } from '../../platform/hex';
import { mapBounded } from '../../platform/map-bounded';
import { EndpointList, orNotEstimated, unavailable } from '../endpoints';
import type {
  AttemptStatus,
  BroadcastOutcome,
  ChainBlock,
  ChainClient,
  EffectRequest,
  FindOrigins,
  ForeignState,
  ForeignTransaction,
  IsOurs,
  KnownAttempt,
  PrepareRequest,
  Reservation,
  ScanResult,
} from '../chain-client';
import { offer } from '../offer';
import { endingScan } from '../scan-look-up';
import type { ChainDefinition, FeeLevels, Hex, InclusionEffect, Prepared } from '../types';
import type { BitcoinBackend } from './backend';
import { parseRawTransaction } from './block';
import { toPayments } from './codec';
import { toPrepared } from './details';
import { EsploraServer } from './esplora';
import { assertBelievable, decodeLevels, encodeLevels, planRate } from './fees';
import { type BitcoinNetwork, networks } from './network';
import { findEarlierOrigins } from './origins';
import { BitcoinNode } from './node';
import { BitcoinPool } from './pool';
import { scanBlock } from './scan';
import { virtualSize } from './sizes';
import { askStatus, toEffect } from './status';

/** Largest number of blocks in one scan. */
const maxScanRange = 50;
const outputsAtOnce = 10;

/** A Bitcoin chain over the RPC of Bitcoin Core or btcd, or over Esplora; the methods are documented in ChainClient. */
export class BitcoinChainClient implements ChainClient {
  readonly compareBlock: ChainClient['compareBlock'];
  readonly pool: BitcoinPool;
  private readonly endpoints: EndpointList<BitcoinBackend>;
  private readonly network: BitcoinNetwork;
  /** Satoshis per virtual byte. */
  private readonly fallbackRate: bigint;

  constructor(
    readonly chain: ChainDefinition,
    urls: readonly string[],
  ) {
    const network = networks.find(({ family }) => family === chain.family);
    if (!network) throw new Error(`${chain.name} is no Bitcoin chain`);
    if (!chain.fallbackFeeLevels) throw new Error(`the registry has no fee rate for ${chain.name} while no node estimates one`);
    this.fallbackRate = decodeLevels(chain.fallbackFeeLevels);
    this.network = network;
    const nodes = urls.map((url, index) => createBackend(chain, url, index + 1));
    this.endpoints = new EndpointList(chain, nodes);
    this.pool = new BitcoinPool(this.endpoints, network);
    this.compareBlock = this.endpoints.blockComparison((node, number) => node.blockHash(number));
  }

  get endpoint(): string {
    return this.endpoints.host;
  }

  verifyIdentity(): Promise<void> {
    return this.endpoints.verify();
  }

  head(): Promise<{ number: number }> {
    return this.endpoints.run(async (node) => ({ number: await node.height() }));
  }

  async feeLevels(): Promise<FeeLevels> {
    return encodeLevels(await this.rate());
  }

  /** The inputs are chosen when they are reserved: until then the fee is that of a single one. */
  prepare(request: PrepareRequest): Promise<Prepared> {
    return orNotEstimated(this.chain, () => this.prepareTransaction(request));
  }

  private async prepareTransaction({ intent, previous }: PrepareRequest): Promise<Prepared> {
    // an attempt that nobody has signed is in no pool: there is nothing to outbid
    const signed = previous.filter(({ ids }) => ids.length > 0).map(({ unsigned }) => unsigned);
    const current = await this.rate();
    const { rate, outbid } = planRate(current, signed);
    const scripts = toPayments(this.network, intent).map(({ script }) => script);
    return toPrepared({ rate, current, outbid, selection: null }, rate * virtualSize(1, scripts));
  }

  status(attempts: KnownAttempt[], reservations: Reservation[], findOrigins: FindOrigins): Promise<AttemptStatus[]> {
    return askStatus(this.endpoints, this.chain, attempts, reservations, findOrigins);
  }

  /**
   * A refusal counts at once where every node would refuse, else where no other one takes it. What depends on transactions of the gateway is
   * waited for as long as these are: it is no sooner taken than they are.
   */
  broadcast(bytes: Hex, ancestors: readonly Hex[] = []): Promise<BroadcastOutcome> {
    const { id } = parseRawTransaction(fromHex(bytes));
    return offer(this.endpoints, async (node) => {
      await sendMissing(node, ancestors);
      const said = await node.send(bytes, id);
      if (said.outcome !== 'waiting' || said.passing === 'unknown' || ancestors.length === 0) return said;
      const { outcome, reason, mayTakeElsewhere, hasSeenMore, isTrouble } = said;
      return { outcome, reason, mayTakeElsewhere, ...(hasSeenMore && { hasSeenMore }), ...(isTrouble && { isTrouble }) };
    });
  }

  /** What somebody else sends is one of several spends of its inputs: nothing is known of the others. */
  foreignState({ id }: ForeignTransaction): Promise<ForeignState> {
    return this.endpoints.run(async (node) => ((await node.findTransaction(id))?.block ? 'executed' : 'absent'));
  }

  /** Inputs have no order. */
  usedOrdinals(): Promise<null> {
    return Promise.resolve(null);
  }

  unspent(resources: string[]): Promise<Set<string>> {
    return this.endpoints.run(async (node) => {
      const found = await mapBounded(resources, outputsAtOnce, async (resource) => {
        const [id, vout] = resource.split(':') as [string, string];
        return (await node.isUnspent(id, Number(vout))) ? [resource] : [];
      });
      return new Set(found.flat());
    });
  }

  effects(items: EffectRequest[]): Promise<Map<string, InclusionEffect>> {
    return this.endpoints.run(async (node) => {
      const found = await Promise.all(items.map(async (item) => [item, await node.findTransaction(item.id)] as const));
      return new Map(found.flatMap(([item, place]) => (place?.block ? [[item.id, toEffect(item.unsigned, place.block)]] : [])));
    });
  }

  effectAtEach({ id, unsigned }: EffectRequest): Promise<(InclusionEffect | null)[]> {
    return this.endpoints.each(async (node) => {
      const place = await node.findTransaction(id);
      return place?.block ? toEffect(unsigned, place.block) : null;
    });
  }

  block(number: number): Promise<ChainBlock | null> {
    return this.endpoints.run(async (node) => {
      const hash = await node.blockHash(number);
      if (hash === null) return null;
      const { parentHash } = await node.header(hash);
      return { number, hash, parentHash: parentHash ?? '' };
    });
  }

  scan(from: number, to: number, isOurs: IsOurs): Promise<ScanResult> {
    if (from < 0 || to < from || to - from >= maxScanRange) throw new RangeError(`a scan covers 1 to ${maxScanRange} blocks`);
    return this.endpoints.run((node) => this.scanAt(node, from, to, endingScan(isOurs)));
  }

  /** One block after the other: a full one has 4 MB. */
  private async scanAt(node: BitcoinBackend, from: number, to: number, isOurs: IsOurs): Promise<ScanResult> {
    const blocks: ScanResult['blocks'] = [];
    const finalBlock = (await node.height()) - this.chain.finalityDepth + 1;
    for (let number = from; number <= to; number += 1) {
      const hash = await node.blockHash(number);
      if (hash === null) break;
      const scan = await scanBlock(this.network, this.chain, number, await node.block(hash), isOurs);
      if (scan.hash !== hash) throw unavailable(this.chain, 'a node shows another block than it was asked for');
      const previous = blocks.at(-1);
      if (previous && scan.parentHash !== previous.hash) break;
      const { outputs } = scan;
      // what cannot be looked up is not watched: the blocks are read all the same
      if (outputs && number > finalBlock)
        outputs.origins.push(...(await findEarlierOrigins(node, outputs.origins, finalBlock).catch(() => [])));
      blocks.push(scan);
    }
    return { blocks, scannedTo: from + blocks.length - 1 };
  }

  private async rate(): Promise<bigint> {
    return this.endpoints.run(async (node) => {
      const rate = await node.feeRate();
      if (rate === null) return this.fallbackRate;
      assertBelievable(this.chain, rate);
      return rate;
    });
  }
}

/** Sends those that the node does not have; whether it takes them shows when it is sent what depends on them. */
async function sendMissing(node: BitcoinBackend, ancestors: readonly Hex[]): Promise<void> {
  for (const bytes of ancestors) {
    const { id } = parseRawTransaction(fromHex(bytes));
    if ((await node.findTransaction(id)) === null) await node.send(bytes, id);
  }
}

/** `https://…/api#esplora` is the HTTP interface of Esplora, every other url JSON-RPC. */
function createBackend(chain: ChainDefinition, url: string, position: number): BitcoinBackend {
  const { hash } = new URL(url);
  return hash === '#esplora' ? new EsploraServer(chain, url, position) : new BitcoinNode(chain, url, position);
}

import { GatewayError } from '../../platform/errors';
import { fromHex } from '../../platform/hex';
import { EndpointList, unavailable } from '../endpoints';
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
} from '../family';
import type { ChainDefinition, FeeLevels, Hex, InclusionEffect, Prepared } from '../types';
import type { BitcoinBackend } from './backend';
import { parseRawTransaction } from './block';
import { toPayments } from './codec';
import { toPrepared } from './details';
import { EsploraServer } from './esplora';
import { capRate, encodeLevels, planRate } from './fees';
import { type BitcoinNetwork, networks } from './network';
import { BitcoinNode } from './node';
import { scanBlock } from './scan';
import { virtualSize } from './sizes';
import { askStatus, toEffect } from './status';

/** Largest number of blocks in one scan. */
const maxScanRange = 50;

/** A Bitcoin chain over the RPC of Bitcoin Core or btcd, or over Esplora; the methods are documented in ChainClient. */
export class BitcoinChainClient implements ChainClient {
  private readonly endpoints: EndpointList<BitcoinBackend>;
  private readonly network: BitcoinNetwork;

  constructor(
    readonly chain: ChainDefinition,
    urls: readonly string[],
  ) {
    const network = networks.find(({ family }) => family === chain.family);
    if (!network) throw new Error(`${chain.name} is no Bitcoin chain`);
    this.network = network;
    const nodes = urls.map((url, index) => createBackend(chain, url, index + 1));
    // what a node refuses another one may know
    this.endpoints = new EndpointList(chain, nodes, () => false);
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
  async prepare({ intent, previous }: PrepareRequest): Promise<Prepared> {
    // an attempt that nobody has signed is in no pool: there is nothing to outbid
    const signed = previous.filter(({ ids }) => ids.length > 0).map(({ unsigned }) => unsigned);
    const { rate, outbid } = planRate(await this.rate(), signed);
    const scripts = toPayments(this.network, intent).map(({ script }) => script);
    return toPrepared({ rate, outbid, selection: null }, rate * virtualSize(1, scripts));
  }

  status(attempts: KnownAttempt[], reservations: Reservation[]): Promise<AttemptStatus[]> {
    return this.endpoints.run((node) => askStatus(node, this.chain, attempts, reservations));
  }

  /** A refusal counts at once where every node would refuse, else where no other one takes it. */
  async broadcast(bytes: Hex): Promise<BroadcastOutcome> {
    const { id } = parseRawTransaction(fromHex(bytes));
    const refusals: BroadcastOutcome[] = [];
    const send = async (node: BitcoinBackend): Promise<BroadcastOutcome> => {
      const sent = await node.send(bytes, id);
      if (sent.outcome === 'accepted') return sent;
      const { outcome, reason, isOfNode } = sent;
      if (!isOfNode) return { outcome, reason };
      refusals.push({ outcome, reason });
      throw new Error(reason);
    };
    return this.endpoints.run(send).catch((error: unknown) => {
      const [refusal] = refusals;
      if (refusal) return refusal;
      throw error;
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

  effects(items: EffectRequest[]): Promise<Map<string, InclusionEffect>> {
    return this.endpoints.run(async (node) => {
      const found = await Promise.all(items.map(async (item) => [item, await node.findTransaction(item.id)] as const));
      return new Map(found.flatMap(([item, place]) => (place?.block ? [[item.id, toEffect(item.unsigned, place.block)]] : [])));
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
    const lookUp: IsOurs = (keys) =>
      isOurs(keys).catch((error: unknown) => {
        // the endpoint is not at fault: another one must not be tried
        throw error instanceof GatewayError
          ? error
          : new GatewayError('unavailable', 'The look-up of deposit addresses failed', { cause: error });
      });
    return this.endpoints.run((node) => this.scanAt(node, from, to, lookUp));
  }

  /** One block after the other: a full one has 4 MB. */
  private async scanAt(node: BitcoinBackend, from: number, to: number, isOurs: IsOurs): Promise<ScanResult> {
    const blocks: ScanResult['blocks'] = [];
    for (let number = from; number <= to; number += 1) {
      const hash = await node.blockHash(number);
      if (hash === null) break;
      const scan = await scanBlock(this.network, this.chain, number, await node.block(hash), isOurs);
      if (scan.hash !== hash) throw unavailable(this.chain, 'a node shows another block than it was asked for');
      const previous = blocks.at(-1);
      if (previous && scan.parentHash !== previous.hash) break;
      blocks.push(scan);
    }
    return { blocks, scannedTo: from + blocks.length - 1 };
  }

  private async rate(): Promise<bigint> {
    const estimate = await this.endpoints.run((node) => node.feeRate());
    return capRate(this.chain, estimate ?? this.network.fallbackRate);
  }
}

/** `https://…/api#esplora` is the HTTP interface of Esplora, every other url JSON-RPC. */
function createBackend(chain: ChainDefinition, url: string, position: number): BitcoinBackend {
  const { hash } = new URL(url);
  return hash === '#esplora' ? new EsploraServer(chain, url, position) : new BitcoinNode(chain, url, position);
}

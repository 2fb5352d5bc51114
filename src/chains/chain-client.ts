import type {
  AttemptKind,
  ChainDefinition,
  DepositFound,
  FeeLevels,
  Hex,
  InclusionEffect,
  JsonObject,
  PendingDeposit,
  Prepared,
  TransactionIntent,
} from './types';
import type { CompareBlock } from './endpoints';

/** The part of a family that asks a chain. The other parts are in family.ts, the table of clients is clients.ts. */

/** An attempt, with what is needed to ask a chain for its status. */
export interface KnownAttempt {
  attempt: number;
  kind: AttemptKind;
  intent: TransactionIntent;
  unsigned: Hex;
  messageKey: string;
  /** Every transaction id known so far; empty until signed. */
  ids: string[];
  expiry: JsonObject | null;
  begunAt: Date;
}

/** An attempt that a block is to hold under the id `id`. */
export interface EffectRequest {
  id: string;
  intent: TransactionIntent;
  unsigned: Hex;
}

export interface PrepareRequest {
  kind: AttemptKind;
  intent: TransactionIntent;
  /** Earlier attempts of the transfer, oldest first. */
  previous: KnownAttempt[];
}

/** A row of `reservations`. */
export interface Reservation {
  reservationId: string;
  owner: string;
  resource: string;
  ordinal: bigint | null;
  /** Id of the transaction that the follower has seen to use it up, where it notes that; to be verified at the chain. */
  usedBy: string | null;
  /** An output that a scanned block holds. */
  isInBlock: boolean;
}

/** What a transaction has spent, or is to spend, by the gateway's rows. */
export interface Origin {
  id: string;
  /** It is an attempt of the gateway. */
  isOurs: boolean;
  /** `usedBy` and `isInBlock`: as of a reservation; the latter is known only of outputs of the gateway. */
  inputs: Pick<Reservation, 'resource' | 'usedBy' | 'isInBlock'>[];
}

/** The transactions of these ids, as far as they are known. */
export type FindOrigins = (ids: string[]) => Promise<Origin[]>;

/**
 * Why an attempt is impossible, in the family's own terms. `ends`: so is everything else that was signed for its transaction, on record or
 * not. `used_by`: id of another transaction that has used up what it spends. `agreed_by`: so many endpoints are configured, and each has shown
 * it; absent: there was one.
 */
export type ImpossibleProof = JsonObject & { ends?: boolean; used_by?: string; agreed_by?: number };

/** What one endpoint has shown. */
export interface EndpointView {
  /** Host and port of the endpoint: no path and no key. */
  endpoint: string;
  /** The newest final block that it had. */
  block: { number: number; hash: string };
}

/** For signing nodes, which ask nothing else of a chain. */
export interface ImpossibilityProver {
  /**
   * Proof, by what a single endpoint shows, that these bytes can never be executed, whoever has signed them; null: it shows none. What one
   * endpoint cannot say, since it lacks blocks, the next one is asked. `begunAt`: where to look for its blocks, if known; a wrong time hides
   * them, and proves nothing.
   * @throws GatewayError chain_unavailable when none could say it
   */
  proveImpossible(unsigned: Hex, begunAt: Date | null): Promise<EndpointView | null>;
}

export type AttemptState =
  /**
   * `isUnfunded`: a reorganisation has removed what it spends, which may come back. `isUnagreed`: one endpoint shows that it can never be
   * executed, and counts only once every configured endpoint shows the same.
   */
  | { state: 'absent'; isUnfunded?: true; isUnagreed?: true }
  | { state: 'pending'; id: string }
  /** `id` may differ from the known ids of the attempt. */
  | { state: 'included'; id: string; depth: number; effect: InclusionEffect }
  /** Can never be executed any more, whoever has signed bytes of it. */
  | { state: 'impossible'; proof: ImpossibleProof };

export type AttemptStatus = { attempt: number } & AttemptState;

export type BroadcastOutcome =
  | { outcome: 'accepted' }
  /**
   * Refused as long as what it depends on is in no block, or since it has expired, or refers to a block that is gone: what becomes of it is
   * shown by `status`. `passing`: or for what may be over within seconds, as `view` by what the nodes have or can do at the moment, and as
   * `price` at a higher one; `unknown`: that cannot be told, as of words that nobody knows.
   */
  | { outcome: 'waiting'; reason: string; passing?: 'price' | 'view' | 'unknown' }
  | { outcome: 'rejected'; reason: string };

export interface BlockTransaction {
  id: string;
  /** null for transactions that no address of the gateway has signed. */
  messageKey: string | null;
  /** Of one that an address of the gateway has signed, in families that execute them in their order. */
  position?: { owner: string; ordinal: bigint };
}

/** An output of an address of the gateway, on a chain whose balances consist of outputs. */
export interface OutputFound {
  /** As reservations name it. */
  resource: string;
  /** Canonical form of its address. */
  owner: string;
  /** Id of the transaction that makes it. */
  madeBy: string;
  /** Atomic units of the native coin. */
  amount: bigint;
  /** Number of the first block at whose height it may be spent by this gateway. */
  spendableFrom: number;
}

/** What a transaction in a block has spent. */
export interface OutputOrigin {
  id: string;
  blockNumber: number;
  /** As reservations name outputs. */
  inputs: string[];
}

export interface BlockScan {
  number: number;
  hash: string;
  parentHash: string;
  transactions: BlockTransaction[];
  deposits: DepositFound[];
  /**
   * What the block does to outputs, in families that have them. `spent`: every output that it spends, whoever's; `by`: id of the spending
   * transaction. `origins`: of the transactions that made those of the gateway, and of those they descend from, unless these are
   * final.
   */
  outputs?: { made: OutputFound[]; spent: { resource: string; by: string }[]; origins: OutputOrigin[] };
}

/** Numbers of blocks, both included. */
export interface BlockRange {
  from: number;
  to: number;
}

export interface ScanResult {
  blocks: BlockScan[];
  /** Every number up to this one is in `blocks` or was skipped by the chain; below `from` when nothing can be taken yet. */
  scannedTo: number;
  /**
   * Payments that contracts pass on may be missing in the first and the last of these blocks, and between them: the endpoint does not show them
   * where the chain does not require that, or is not seen to. None of these blocks is above `scannedTo`.
   */
  untraced?: BlockRange;
}

/** Returns the subset of these canonical addresses that belongs to the gateway. */
export type IsOurs = (addressKeys: string[]) => Promise<Set<string>>;

export interface ChainBlock {
  number: number;
  hash: string;
  parentHash: string;
}

/** A transaction that somebody outside has signed; `ordinal`: its position among those of its sender (a nonce). */
export interface ForeignTransaction {
  id: string;
  sender: string;
  ordinal: bigint;
}

/**
 * `executed`: in a block, however new. `reverted`, and `replaced` by another transaction of the sender at its position: as deep as the
 * chain's confirmations. `unconfirmed`: one of the two, in a newer block, which a reorganisation may take back.
 */
export type ForeignState = 'absent' | 'executed' | 'reverted' | 'replaced' | 'unconfirmed';

/** What waits for a block, in families whose nodes show it. Each node has a pool of its own. All throw GatewayError chain_unavailable. */
export interface PoolReader {
  /** Ids of the transactions in the pool of one node. */
  ids(): Promise<string[]>;
  /**
   * What these transactions pay to addresses of the gateway, without change and without amounts that are not worth spending; what is
   * not in the pool any more is left out.
   */
  deposits(ids: string[], isOurs: IsOurs): Promise<PendingDeposit[]>;
  /** Those of these transactions that a node has neither in its pool nor in a block. */
  findGone(ids: string[]): Promise<string[]>;
}

/** All calls to a chain. Every call has a time-out; failures are GatewayError chain_unavailable (retryable). */
export interface ChainClient {
  readonly chain: ChainDefinition;
  /** Host and port of the endpoint that is asked first, as things are: no path and no key. */
  readonly endpoint: string;
  /** @throws ConfigError when an endpoint serves another chain. */
  verifyIdentity(): Promise<void>;
  head(): Promise<{ number: number }>;
  /** Number of the oldest block that a node has, where that is not 0 on a chain that has just begun. */
  firstBlock?(): Promise<number>;
  feeLevels(): Promise<FeeLevels>;
  /**
   * @throws GatewayError would_revert when the chain would refuse the transaction; not_estimated when no endpoint says what it would take, for
   * a reason that is not known.
   */
  prepare(request: PrepareRequest): Promise<Prepared>;
  /** The state of every attempt, as seen by one node. `findOrigins`: says where to look; what counts is what the node shows. */
  status(attempts: KnownAttempt[], reservations: Reservation[], findOrigins: FindOrigins): Promise<AttemptStatus[]>;
  /**
   * Safe to repeat: bytes that a node already has count as accepted. `ancestors`: signed transactions of the gateway, in no scanned block,
   * that it depends on; the oldest first. They are sent before it where a node lacks them.
   */
  broadcast(bytes: Hex, ancestors?: readonly Hex[]): Promise<BroadcastOutcome>;
  /**
   * How many ordinals (nonces) of an address final transactions have used up: all lower ones. null in a family without ordinals.
   * @throws GatewayError chain_unavailable.
   */
  usedOrdinals(address: string): Promise<bigint | null>;
  /** What has become of it. @throws GatewayError chain_unavailable. */
  foreignState(transaction: ForeignTransaction): Promise<ForeignState>;
  /**
   * Effects of included transactions by id, which occurs once in `items`; transactions that are not included are left out. null: it is
   * included, and does nothing about the intent: another one may. What an endpoint does not show to have moved is null in the effect.
   */
  effects(items: EffectRequest[]): Promise<Map<string, InclusionEffect | null>>;
  /**
   * The effect of one of them as every configured endpoint shows it, in their order, read so strictly that an answer which lacks a part is no
   * answer; null for an endpoint that does not answer, or has no such transaction in a block. Never throws.
   */
  effectAtEach(item: EffectRequest): Promise<(InclusionEffect | null)[]>;
  /**
   * What an address has at the newest block that the follower reads, atomic units. `token`: its contract; null: the native coin. Absent in a
   * family whose balances consist of outputs.
   * @throws GatewayError chain_unavailable.
   */
  balance?(address: string, token: string | null): Promise<bigint>;
  /**
   * Those of these outputs, as reservations name them, that are in a block and not spent by one. Absent in other families.
   * @throws GatewayError chain_unavailable.
   */
  unspent?(resources: string[]): Promise<Set<string>>;
  /** null: the chain has no such block (yet), or has skipped the number. */
  block(number: number): Promise<ChainBlock | null>;
  /** How many endpoints show this block at its height; absent with one endpoint, and then there is nothing to compare. */
  readonly compareBlock?: CompareBlock | undefined;
  /** Blocks from..to (inclusive, at most 50 numbers at once). */
  scan(from: number, to: number, isOurs: IsOurs): Promise<ScanResult>;
  /** Absent in a family that shows no transaction before a block holds it. */
  readonly pool?: PoolReader;
}

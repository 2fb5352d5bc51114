import type { EntityManager } from 'typeorm';
import type { AlertName } from '../platform/alert-names';
import type { FailureCode } from '../platform/codes';
import type {
  AssetType,
  AttemptKind,
  ChainDefinition,
  ChainFamily,
  FamilyRules,
  FeeLevels,
  GatherRequest,
  Hex,
  IntentAction,
  KeyProtocol,
  Prepared,
  TokenDefinition,
  TransactionDescription,
  TransactionIntent,
  TransactionOutput,
} from './types';

/**
 * What a chain family implements, in three parts: pure functions, what it stores, and the client that asks a chain (chain-client.ts). The
 * table of families is src/chains/families.ts, that of clients is src/chains/clients.ts; nothing outside src/chains knows which families
 * exist.
 */

export interface ParsedAddress {
  /** As shown to clients. */
  address: string;
  /** Canonical form for comparison and unique indexes. */
  key: string;
}

/** What an unsigned transaction is built from. */
export interface TransactionPlan {
  chain: ChainDefinition;
  intent: TransactionIntent;
  kind: AttemptKind;
  prepared: Prepared;
  /** The resources that `reserve` has returned. */
  resources: string[];
}

export interface SigningPayload {
  /** Canonical form of the address whose key signs. */
  signer: string;
  /** 32 bytes: what is signed, or, where the family's protocol signs messages (key-protocols.ts), the SHA-256 of the message. */
  digest: Hex;
  /** What is signed, where the protocol signs messages and no digests; absent elsewhere. */
  message?: Hex;
}

export interface FeeStrategy {
  /** Highest network fee to lock for a transfer at these levels, with headroom for replacements; atomic units of the native coin. */
  bound(chain: ChainDefinition, token: TokenDefinition, levels: FeeLevels): bigint;
}

/** Pure functions: the same code runs in the API, the workers and every MPC node. No I/O. */
export interface FamilyCodec {
  readonly name: ChainFamily;
  readonly rules: FamilyRules;
  /** Of settlements, where they are not made again as payments are; absent: as of payments. */
  readonly settlementRules?: FamilyRules;
  /**
   * Most settlements of one payer that are open at once, where somebody has to look through many blocks for what has become of each. Absent: no
   * limit.
   */
  readonly maxOpenSettlements?: number;
  readonly keyProtocol: KeyProtocol;
  /** An account has the same address on every chain of the family, so that an asset has to name its chain. */
  readonly addressOnManyChains: boolean;
  /** Balances consist of outputs, which a transaction spends as a whole. */
  readonly spendsOutputs?: true;
  /** A payment may have a text with it, which the chain shows to everybody. */
  readonly carriesMemo?: true;
  /** Some addresses belong to programs and to no key: they are paid only where the client says so. */
  readonly hasProgramAddresses?: true;
  /**
   * What an account that has paid a fee has to keep, atomic units of the native coin: the chain refuses a transaction that leaves less. Absent:
   * nothing.
   */
  readonly minimumBalance?: bigint;
  /** The smallest payment of the native coin that is good for every recipient, atomic units: less is refused to some. Absent: 1. */
  readonly smallestPayment?: bigint;
  /** Of tokens on a chain that the registry does not have any more. */
  readonly tokenType: AssetType;
  readonly fees: FeeStrategy;
  /** Non-hardened BIP-32 path of the index-th account of a wallet, such as m/60/0; `m` where each account has a key of its own. */
  accountPath(index: number): string;
  /** Address of a public key in the encoding of `keyProtocol`. */
  address(publicKey: Uint8Array): ParsedAddress;
  /** null when the text is no valid address of this family (wrong checksum included). */
  parseAddress(text: string): ParsedAddress | null;
  /** Who uses an address that `parseAddress` refuses, such as mainnet; null for text that is an address nowhere. Absent: nobody does. */
  findForeignUsers?(text: string): string | null;
  /** Whether a text that `parseAddress` refuses has the form of an address, and only its checksum does not fit. Absent: addresses have none. */
  hasWrongChecksum?(text: string): boolean;
  /** Serialises a plan. @throws Error for a plan that `describe` would refuse. */
  build(plan: TransactionPlan): Hex;
  /** What bytes of the gateway were built from, as far as they say. `feeBound`: highest fee that their order allows, atomic units. */
  recover(unsigned: Hex, feeBound: bigint): Prepared;
  /** Position of a resource that is used up in order (a nonce); null where there is no order. */
  getOrdinal(resource: string): bigint | null;
  /** Decodes unsigned bytes. @throws Error on bytes this gateway would never build. */
  describe(unsigned: Hex): TransactionDescription;
  /** What has to be signed, in order. */
  signingPayloads(unsigned: Hex, from: string): SigningPayload[];
  /** Joins bytes and signatures, one for each payload. @throws Error when a signature is not of its signer. */
  assemble(unsigned: Hex, signatures: Hex[], from: string): { id: string; bytes: Hex };
  /** Identifies the message of `from` whatever its signature; equal to what `scan` reports for it. */
  messageKey(unsigned: Hex, from: string): string;
}

/** An address of the gateway on one chain. */
export interface ReservationOwner {
  chain: string;
  accountId: string;
  addressKey: string;
}

export interface BoundRequest {
  chain: ChainDefinition;
  source: ReservationOwner;
  token: TokenDefinition;
  outputs: TransactionOutput[];
  action?: IntentAction | undefined;
  gather?: GatherRequest | undefined;
  /** Of the payment, on the chain. */
  memo?: string | undefined;
  /** Of the payment: the recipient may be an address of a program. */
  allowsProgram?: boolean | undefined;
  /** Those of the chain, where the caller has read them (fee-levels.ts) in the same database transaction. */
  levels?: FeeLevels | undefined;
}

/** What joining small outputs of an account would do now; amounts in atomic units of the native coin. */
export interface GatherPlan {
  inputs: number;
  /** Of all inputs. */
  amount: bigint;
  /** At the stored fee levels. */
  fee: bigint;
}

/** The chain counts other transactions of an address than the rows. */
export interface DoubtedCount {
  reported: bigint;
  expected: bigint;
}

export type ReserveResult =
  /**
   * `prepared`: with what the choice of the resources has decided, such as the fee; absent where it decides nothing. `packageFee`: its fee
   * and those of the transactions in no block that it depends on, atomic units; absent where there are none.
   */
  | { outcome: 'reserved'; resources: string[]; prepared?: Prepared; packageFee?: bigint }
  /** Nothing was taken; what is missing is expected to become free. `alert`: operators have to look at the account. */
  | { outcome: 'wait'; reason: string; alert?: AlertName; doubt?: DoubtedCount }
  /** Nothing was taken, and nothing takes the place of the earlier attempts now: the chain shows what becomes of them. */
  | { outcome: 'follow'; reason: string }
  /** Nothing was taken. */
  | { outcome: 'refused'; code: FailureCode; reason: string };

/** What a family stores in Postgres. Both run inside the caller's database transaction and call no chain. */
export interface FamilyDatabase {
  /**
   * Highest network fee to lock for a transfer, atomic units of the native coin.
   * @throws GatewayError chain_unavailable when the stored fee levels are missing or older than 10 minutes; business_error for an
   * amount that the chain does not move, or a recipient that is not to be paid.
   */
  bound(manager: EntityManager, request: BoundRequest): Promise<bigint>;
  /**
   * Takes what the attempt will use up, as rows of `reservations`. A replacement or cancellation gets what its transfer already
   * holds, or a part of it with the first one, and more where its fee needs that. Call it for an open transaction whose signing has
   * begun, in the database transaction that begins the attempt. `intent`: of the attempt.
   */
  reserve(
    manager: EntityManager,
    owner: ReservationOwner,
    prepared: Prepared,
    txId: string,
    kind: AttemptKind,
    intent: TransactionIntent,
  ): Promise<ReserveResult>;
}

/** Absent in a family whose balances are no outputs. */
export interface OutputDatabase {
  /**
   * Outputs that no transaction holds and no waiting transfer needs; null: fewer than two are worth their fee. Inside the caller's database
   * transaction. @throws GatewayError chain_unavailable as `bound`.
   */
  plan(manager: EntityManager, owner: ReservationOwner, request: GatherRequest): Promise<GatherPlan | null>;
}

export interface Family extends FamilyCodec, FamilyDatabase {
  readonly gathering?: OutputDatabase;
  /**
   * Whether an attempt with these facts would offer more than nodes ask of whatever takes the place of `unsigned`: what the chain takes now is
   * above what those bytes offer, wherever they stand in a line. Absent: transactions are executed in no order.
   */
  isOutbid?(unsigned: Hex, prepared: Prepared): boolean;
}

/** Returns the family of a name; a parameter, since tests serve families of their own. @throws Error for an unknown name. */
export type GetFamily = (name: ChainFamily) => Family;

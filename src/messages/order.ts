/**
 * Orders: what the authoriser permits the signing nodes to do, as the claims of a JWS (RFC 7515) signed with EdDSA over Ed25519
 * (RFC 8037). No node takes part in anything without one. Field names are those inside the JWS.
 */
import type { Hex, KeyProtocol } from '../chains/types';

/** `typ` of the JWS header: no other token that the gateway signs is mistaken for an order. */
export const orderType = 'custody-order+jws';
/** Seconds from `iat` to `exp`; less where the bytes stop being executable earlier. */
export const orderLifetimeSeconds = 600;

/** Kinds that authoriser and nodes act on. Those of later features have a shape and are refused. */
export const enabledOrderKinds = [
  'transfer',
  'replacement',
  'reissue',
  'cancellation',
  'settlement',
  'typed_data',
  'gas',
  'withdrawal',
  'consolidation',
  'generate_key',
  'bind_key',
  'blacklist_page',
] as const satisfies OrderKind[];
/** Orders over the bytes of an attempt. */
export const signingOrderKinds = [
  'transfer',
  'replacement',
  'reissue',
  'cancellation',
  'settlement',
  'typed_data',
  'gas',
  'withdrawal',
  'consolidation',
  'sweep',
] as const;

/** What every order says. */
interface OrderHead {
  v: 1;
  /** Deployment id: an order of one deployment means nothing to the nodes of another. */
  dep: string;
  jti: string;
  /** Running number, strictly rising. */
  seq: number;
  /** Seconds since the epoch. */
  iat: number;
  exp: number;
}

/** One key that signs, and the digests it signs in the order of the transaction's signing payloads. */
export interface OrderSigner {
  key_id: string;
  path: string;
  protocol: KeyProtocol;
  digests: Hex[];
}

export interface OrderRecipient {
  address: string;
  /** Contract; null: the native coin. */
  token: string | null;
  /** Atomic units, decimal digits. */
  amount: string;
}

/**
 * JWS in compact form: enough for an order with the maximum number of payloads and outputs, and for one that names the maximum number of earlier
 * attempts.
 */
export const maxOrderLength = 128 * 1024;

/** For so long the bytes of a payment may be executed from now on, where they expire. */
export const longestPaymentSeconds = 3_600;

/** Attempts of one transaction where they expire: the last reissue names all the others. */
export const maxReissuedAttempts = 32;

/** An attempt that a reissue takes the place of. */
export interface EarlierAttempt {
  attempt: number;
  /** Of the bytes, so that nobody can name others in their place. */
  digests: Hex[];
  /** What would have to be executed. */
  unsigned: Hex;
  /** When it began, seconds since the epoch: nodes look there for its blocks, and believe them alone. */
  begun_at?: number;
}

interface SigningFacts {
  tx_id: string;
  attempt: number;
  client_id: string;
  /** SHA-256 in hex over client id and idempotency key; null for a request without one. */
  request: string | null;
  signers: OrderSigner[];
  /** CAIP-2. */
  chain: string;
  from: string;
  recipients: OrderRecipient[];
  /** Highest network fee, atomic units of the native coin, decimal digits. */
  max_fee: string;
  /** The text that the payment carries on the chain; absent: none. */
  memo?: string;
}

interface ReissueFacts extends SigningFacts {
  kind: 'reissue';
  earlier: EarlierAttempt[];
}

/** Whose payment a transaction settles: its sender, who pays the fee, is the order's client. */
export interface SettlementFacts {
  /** The client who asks for it. Its blacklist holds for the recipients as well. */
  client_id: string;
  /** How the payer has authorised it, in the family's terms. */
  method: string;
  payer: string;
  /** What the authorisation uses up, in the family's terms. */
  identity: string;
  /** Most that the payer has signed for, atomic units, decimal digits. */
  authorised: string;
  /** Last second at which it can be executed, since the epoch. */
  window_end: number;
}

interface SettlementOrderFacts extends SigningFacts {
  kind: 'settlement';
  settlement: SettlementFacts;
}

interface ReplacementFacts extends SigningFacts {
  kind: 'replacement';
  /** Of a settlement. */
  settlement?: SettlementFacts;
  /** Of a withdrawal: coins leave the house. */
  purpose?: 'withdrawal';
}

/** A payment that somebody else carries out: it is signed and not sent. */
export interface AuthorisationFacts {
  /** In the family's terms. */
  method: string;
  /** What it uses up, in the family's terms. */
  identity: string;
  /** The only address that may carry it out; null: anybody may. */
  facilitator: string | null;
  /** Last second at which it can be executed, since the epoch. */
  window_end: number;
}

interface TypedDataFacts extends SigningFacts {
  kind: 'typed_data';
  authorisation: AuthorisationFacts;
}

interface OtherSigningFacts extends SigningFacts {
  kind: Exclude<(typeof signingOrderKinds)[number], 'reissue' | 'settlement' | 'replacement' | 'typed_data'>;
}

interface GenerateKeyFacts {
  kind: 'generate_key';
  key_id: string;
  /** Absent: ecdsa-secp256k1. */
  protocol?: KeyProtocol;
  /** null: a key that is not meant for a certain client yet. */
  client_id: string | null;
}

interface BindKeyFacts {
  kind: 'bind_key';
  key_id: string;
  wallet_id: string;
  client_id: string;
  /** Of a key without children, which is one account's and no other's; absent: the wallet's key. */
  account_id?: string;
}

interface BlacklistPageFacts {
  kind: 'blacklist_page';
  client_id: string;
  after: number;
  through: number;
  /** SHA-256 in hex over the page's changes. */
  sha256: string;
}

/** What an order is about: everything but its head. */
export type OrderFacts = AttemptFacts | GenerateKeyFacts | BindKeyFacts | BlacklistPageFacts;
/** What an order over the bytes of an attempt is about. */
export type AttemptFacts = ReissueFacts | SettlementOrderFacts | ReplacementFacts | TypedDataFacts | OtherSigningFacts;
export type OrderKind = OrderFacts['kind'];
export type OrderClaims = OrderHead & OrderFacts;
export type ClaimsOf<K extends OrderKind> = OrderHead & Extract<OrderFacts, { kind: K }>;
/** An order to sign the bytes of an attempt. */
export type SigningClaims = OrderHead & AttemptFacts;

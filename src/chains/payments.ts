import type { PaymentReason } from './payment-reasons';
import type { AuthorisationAction, ChainDefinition, Hex, JsonObject, TokenDefinition } from './types';

/**
 * What a chain family implements for x402 payments. A payer signs an authorisation and anybody may send it to the chain; a payment
 * method is one form of such an authorisation. The table of methods is src/chains/payment-methods.ts.
 */

export type PaymentScheme = 'exact' | 'upto';
/** By what the payload of the payer contains. */
export type PayloadType = 'eip3009' | 'permit2' | 'transaction';

/** A payment as a resource server asks to have it checked, whatever the version of the protocol it was written in. */
export interface PaymentRequest {
  version: 1 | 2;
  scheme: PaymentScheme;
  payloadType: PayloadType;
  chain: ChainDefinition;
  /** Token contract and recipient as written by the resource server. */
  asset: string;
  payTo: string;
  /** What the payer has to have authorised, atomic units: the price, or the highest one (upto). */
  amount: bigint;
  /** upto: what is to be paid now, atomic units; null as long as nobody has said it. */
  settlementAmount: bigint | null;
  /** `extra` of the resource server's requirements. */
  extra: JsonObject;
  /** What the payer has signed, with the signature. */
  payload: JsonObject;
  /** What the payer has added so that the allowance of Permit2 can be set by somebody else. */
  extensions: { permit?: JsonObject; approval?: JsonObject };
  /** What the resource server says that is bought; null in version 2, where the payer alone says it. */
  resource: string | null;
  /** What the payer names the payment by (extension payment-identifier); null: nothing, or no such name. */
  paymentId: string | null;
}

/** What has to happen on the chain for a payment to be possible, beside the payment itself. */
export type Sponsoring =
  | { type: 'none' }
  /** A call of a contract that creates the payer's wallet, in the same transaction (ERC-6492); `factory` in canonical form. */
  | { type: 'deployment'; factory: string; data: Hex }
  /** An EIP-2612 permit that gives Permit2 its allowance, executed in the same transaction. */
  | { type: 'permit'; value: bigint; deadline: bigint; v: number; r: Hex; s: Hex }
  /** The payer's own signed transaction that gives Permit2 its allowance, to be sent before, and its id; `maxCost` in atomic units of the native coin. */
  | { type: 'approval'; raw: Hex; id: Hex; nonce: number; maxCost: bigint };

/** What a payer lacks for an approval that would be executed, atomic units of the native coin; or why it would not be. */
export type ApprovalQuote = { topUp: bigint } | { reason: PaymentReason };

export type SettlementMethod = 'eip3009' | 'permit2_exact' | 'permit2_upto' | 'transaction';

/** An authorisation that fits what was asked for, as far as can be said without the chain. */
export interface Payment {
  method: SettlementMethod;
  chain: ChainDefinition;
  token: TokenDefinition;
  /** Addresses in the form shown to clients. */
  payer: string;
  payTo: string;
  /** Highest amount that the payer has signed, atomic units. */
  authorised: bigint;
  /** Atomic units; equal to `authorised` unless the scheme is upto. */
  amount: bigint;
  /** What can be used once only, in canonical form; the same for both versions of the protocol. */
  identity: string;
  /** Hex of 32 bytes (EIP-3009, and the hash of a transaction's message) or decimal digits (Permit2). */
  nonce: string;
  /** Seconds since the epoch, as signed. EIP-3009: both bounds excluded; Permit2: both included. A transaction has other bounds: see there. */
  validAfter: bigint;
  validBefore: bigint;
  /** The last second at which it can be executed. */
  lastSecond: bigint;
  /** The payer's; of a payer who has signed a transaction, that transaction, without the signature of its settler. */
  signature: Hex;
  /** The signature was wrapped for a wallet that need not exist yet (ERC-6492). */
  isWrapped: boolean;
  /** EIP-712 domain of the token, where the signature is made for it. */
  domain: { name: string; version: string } | null;
  /** The only address that may settle; null: anybody may. */
  facilitator: string | null;
  sponsoring: Sponsoring;
}

export interface PaymentContext {
  /** Seconds since the epoch. */
  now: number;
  /** Keys (canonical form) of the gateway's own settling addresses on this chain. */
  settlers: ReadonlySet<string>;
  /** Which sponsoring the calling client may use on this chain; information about another one is ignored. */
  sponsors: { permit: boolean; approval: boolean };
  /** Contracts (canonical form) that the house calls to create the wallet of a payer, for the calling client on this chain. */
  walletFactories: ReadonlySet<string>;
}

export type Checked = { payment: Payment } | { reason: PaymentReason };

/** `payment`: as it is to be executed, without the sponsoring that has turned out not to be needed. */
export type Simulated = Checked;

/** `refused`: by the chain, before anything was sent; `reverted` by it; `unobserved`: executed without the payment. */
export type SettlementFailure = 'expired' | 'refused' | 'reverted' | 'unobserved';

/** What the payer and the resource server both state. */
export type AgreedField = 'scheme' | 'network' | 'asset' | 'payTo' | 'amount';

export interface PaymentIdentity {
  /** What the payment uses up (`Payment.identity`). */
  identity: string;
  /** Every field of the message that its payer has signed, however they were written; and what `extra` asks of that message. */
  signed: string;
  /**
   * The same as the bytes of its settlement say it, with the signature; null: it is not well formed, or `extra` asks for what the message does
   * not say.
   */
  authorisation: string | null;
}

export interface NamedSettler {
  /** Of `extra` of the requirements: tells payers whom to name. */
  field: string;
  /** Why a payment is refused that names one who settles nothing new. */
  refusal: PaymentReason;
}

export interface PaymentMethod {
  readonly payloadType: PayloadType;
  readonly schemes: readonly PaymentScheme[];
  /** How payments of one of these schemes are settled (`Payment.method`). */
  settlementMethod(scheme: PaymentScheme): SettlementMethod;
  /** Why a payment is refused whose payer has accepted something else than the resource server asks for. */
  disagreement(scheme: PaymentScheme, field: AgreedField): PaymentReason;
  /** One form of an address or a signature, however it is written; other text as it is. */
  normalise(text: string): string;
  /** Of a payment that need not be valid any more; null: it is not well formed. */
  identify(request: PaymentRequest): PaymentIdentity | null;
  /** Where what a payer signs names who settles, by scheme; absent: anybody may settle. */
  readonly named?: Partial<Record<PaymentScheme, NamedSettler>>;
  /** Why a settlement has failed. */
  readonly failures: Record<PaymentScheme, Record<SettlementFailure, PaymentReason>>;
  /** Everything that needs no chain; the first check that fails decides. */
  check(request: PaymentRequest, context: PaymentContext): Checked;
}

/** Asks a chain about payments. */
export interface PaymentClient {
  /**
   * Whether the chain would execute the payment now, sent by `settler`, without the approval that comes with it. Writes nothing, on
   * the chain or anywhere else.
   * @returns why not, if it would not
   * @throws GatewayError chain_unavailable when no endpoint could tell
   */
  simulate(payment: Payment, settler: string): Promise<Simulated>;
  /**
   * Whether the chain would execute the approval that comes with a payment, and then the payment. Ask for one that `simulate` refuses for
   * its allowance alone.
   * @throws GatewayError chain_unavailable when no endpoint could tell, Error for a payment without an approval
   */
  quoteApproval(payment: Payment, settler: string): Promise<ApprovalQuote>;
}

/** What a resource server asks a payer to authorise. */
export interface AuthorisableTerms {
  version: 1 | 2;
  scheme: PaymentScheme;
  /** In the form shown to clients. */
  payer: string;
  token: TokenDefinition;
  /** `extra` of the requirements. */
  extra: JsonObject;
  /** For how long the payment can be carried out. */
  seconds: number;
  /** The resource server takes a permit together with the payment. */
  takesPermit: boolean;
}

/** `field`: of the requirements. */
export type AuthorisationPlan = { payloadType: PayloadType; action: AuthorisationAction } | { field: string; problem: string };

/** What accounts of the gateway sign in order to pay. */
export interface PaymentAuthoriser {
  /** How an account is to authorise such a payment; each call gives another nonce. */
  plan(terms: AuthorisableTerms): AuthorisationPlan;
  /**
   * What a payer sends: `payload` of the protocol, and the permit that belongs to it.
   * @param signed as `assemble` of the family's codec gives it
   */
  present(unsigned: Hex, signed: Hex): { payload: JsonObject; permit: JsonObject | null };
}

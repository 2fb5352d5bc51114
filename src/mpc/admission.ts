import type { AttemptKind, Hex } from '../chains/types';
import type { NodeIndex } from '../messages/nodes';
import type { SignedStatement } from './statement';

/** One signature that this node is asked for: its order is valid, and the bytes do what it says. */
export interface AdmissionRequest {
  txId: string;
  attempt: number;
  kind: AttemptKind;
  /** SHA-256 in hex over the order in compact form. */
  orderHash: string;
  /** Running number of the order. */
  orderSeq: number;
  /** Kept, to be shown to a gateway whose database lacks it. */
  order: { jti: string; compact: string; unsigned: Hex };
  /** What the attempt uses up on its chain, named so that it is the same thing everywhere. */
  resources: string[];
  /** Of all payloads of the attempt. */
  digests: Hex[];
  /**
   * Identifies the message on its chain. Only where it has several digests: there each one is of a part of it, so that those of two
   * orders over the same message could be put together. A single digest is of the whole message.
   */
  messageKey?: string;
  /** Position of the payload to be signed. */
  payload: number;
  keyId: string;
  clientId: string;
  /** The client for whom the house signs. Its blacklist holds too. */
  onBehalfOf?: string;
  peer: NodeIndex;
  initiator: NodeIndex;
  spends: Spending;
  /** Of a reissue, and of nothing else: of every attempt that the order names. */
  proofs?: EarlierProof[];
}

/** What this node has read about an earlier attempt: it can never be executed. The names are those of the entry's statement. */
export interface EarlierProof {
  attempt: number;
  digests: Hex[];
  /** Host and port of the endpoint, which is of this node's own configuration. */
  endpoint: string;
  /** Number and hash of the newest final block that it showed. */
  block: number;
  hash: string;
  /** ISO 8601, by this node's clock. */
  proved_at: string;
}

/** In place of a token, for what the house pays: fees, and coins for fees, counted by themselves. No contract has this name. */
export const houseGas = 'gas';

/** In place of a token, for the highest fees of what keys of clients sign: a sum of its own for each chain. No contract has this name. */
export const feeSum = 'fees';

/** In place of a token, for the fees of joining outputs of accounts, counted by themselves. No contract has this name. */
export const consolidationFees = 'consolidation';

/** What a transaction moves, as decoded from its bytes. */
export interface Spending {
  chain: string;
  /** Canonical contract; null: the native coin; `houseGas`, `consolidationFees`. */
  token: string | null;
  /** Atomic units of the token; 0 for a cancellation, the fee for a settlement and a consolidation. */
  amount: bigint;
  /** Highest network fee, atomic units of the native coin. */
  fee: bigint;
  /** Canonical addresses that are paid, decoded from the bytes; none where nothing leaves the account. */
  recipients: string[];
  /** Coins leave the house: only to the destinations that this node's operator has named. */
  purpose?: 'withdrawal';
  /** Canonical address of the contract that is called to create somebody's wallet: only one that this node's operator has named. */
  factory?: string;
}

/** A signature that may be made: the journal has its entry. */
export interface JournalEntry {
  number: number;
  request: AdmissionRequest;
  /** For the peer, which keeps a copy. */
  statement: SignedStatement;
  /** Admitted by the operator in spite of a ban. */
  isUnfrozen: boolean;
}

/** How a session ended; the meanings are in migrations/mpc-node/0003-journal.ts. */
export type Outcome = 'signed' | 'not_begun' | 'silent' | 'failed' | 'stopped';

export interface SessionEnd {
  outcome: Outcome;
  signature: Hex | null;
  /** Id of the session, if it was agreed on. */
  session: Buffer | null;
  /** The peer's own entry about the session. */
  copy: SignedStatement | undefined;
}

/** Decides by this node's own journal, bans and limits whether a signature is made, and remembers it. */
export interface Admission {
  /** For what has no entry: test signatures, and whose a key is. @throws GatewayError journal_behind */
  assertReady(): void;
  /**
   * @param copy the peer's entry about the same signature, where the peer is the initiator
   * @throws GatewayError invalid_parameter, intent_mismatch, address_blacklisted, key_peer_banned, node_policy or journal_behind when
   *   no session may begin
   */
  admit(request: AdmissionRequest, copy?: SignedStatement): Promise<{ recorded: Hex } | { entry: JournalEntry }>;
  /** @throws GatewayError invalid_parameter when it is not the peer's entry about the same signature. */
  assertCopy(copy: SignedStatement, request: AdmissionRequest): void;
  /** To be waited for before the first message is sent: from then on a restored database is noticed. */
  begin(entry: JournalEntry): Promise<void>;
  finish(entry: JournalEntry, end: SessionEnd): Promise<void>;
}

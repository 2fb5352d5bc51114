import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { FailureCode } from '../platform/codes';
import { atomicColumn } from '../platform/columns';
import type { TransactionType, TransactionTypeRules } from './types';

/** States of a transfer. */
export const outboundStatuses = [
  'PENDING',
  'AWAITING_APPROVAL',
  'SIGNING',
  'SUBMITTED',
  'NEEDS_ATTENTION',
  'CONFIRMED',
  'REJECTED',
  'FAILED',
  'CANCELLED',
] as const;
/** Of a transfer and of a deposit. */
export const transactionStatuses = [...outboundStatuses, 'DETECTED', 'ORPHANED'] as const;
export type TransactionStatus = (typeof transactionStatuses)[number];

/** One transfer or deposit. State changes are compare-and-set on `version` (src/transactions/state.ts); the database checks them. */
@Entity('transactions')
export class TransactionEntity {
  @PrimaryColumn('uuid', { name: 'tx_id' }) txId!: string;
  @Column({ type: 'uuid', name: 'client_id' }) clientId!: string;
  @Column({ type: 'uuid', name: 'wallet_id', nullable: true }) walletId!: string | null;
  @Column({ type: 'uuid', name: 'account_id', nullable: true }) accountId!: string | null;
  @Column({ type: 'uuid', name: 'asset_id', nullable: true }) assetId!: string | null;
  @Column('text') chain!: string;
  @Column({ type: 'text', name: 'transaction_type' }) transactionType!: TransactionType;
  /** From its type (src/transactions/types.ts); set by the database. */
  @Column({ type: 'text', insert: false, update: false }) direction!: TransactionTypeRules['direction'];
  @Column({ type: 'boolean', name: 'is_held', insert: false, update: false }) isHeld!: boolean;
  @Column({ type: 'boolean', name: 'is_signed', insert: false, update: false }) isSigned!: boolean;
  @Column({ type: 'text', name: 'from_address' }) fromAddress!: string;
  /** The signing address; null: fromAddress. */
  @Column({ type: 'text', name: 'sender_address', nullable: true }) senderAddress!: string | null;
  @Column({ type: 'text', name: 'to_address' }) toAddress!: string;
  /** The destination in canonical form; null for deposits. */
  @Column({ type: 'text', name: 'to_address_key', nullable: true }) toAddressKey!: string | null;
  @Column({ type: 'text', name: 'token_symbol' }) tokenSymbol!: string;
  @Column({ type: 'text', name: 'contract_address', nullable: true }) contractAddress!: string | null;
  @Column('smallint') decimals!: number;
  /** Atomic units of the token. */
  @Column({ type: 'numeric', precision: 78, scale: 0, transformer: atomicColumn }) amount!: bigint;
  @Column({ type: 'text', name: 'fee_symbol', nullable: true }) feeSymbol!: string | null;
  @Column({ type: 'smallint', name: 'fee_decimals', nullable: true }) feeDecimals!: number | null;
  /** Highest network fee, locked in addition to the amount; atomic units of the native coin. */
  @Column({ type: 'numeric', name: 'fee_locked', precision: 78, scale: 0, transformer: atomicColumn }) feeLocked!: bigint;
  /** Fee taken by the network; null until known. */
  @Column({ type: 'numeric', precision: 78, scale: 0, nullable: true, transformer: atomicColumn }) fee!: bigint | null;
  @Column('text') status!: TransactionStatus;
  @Column('integer') version!: number;
  @Column({ type: 'timestamptz', name: 'signing_begun_at', nullable: true }) signingBegunAt!: Date | null;
  @Column({ type: 'text', name: 'tx_hash', nullable: true }) txHash!: string | null;
  /** Of a deposit: position within the transaction, in the chain's own terms. */
  @Column({ type: 'text', nullable: true }) position!: string | null;
  @Column({ type: 'bigint', name: 'block_number', nullable: true, transformer: atomicColumn }) blockNumber!: bigint | null;
  @Column({ type: 'text', name: 'block_hash', nullable: true }) blockHash!: string | null;
  @Column({ type: 'integer', name: 'required_confirmations' }) requiredConfirmations!: number;
  @Column({ type: 'text', nullable: true }) memo!: string | null;
  /** The memo is part of what is signed too. */
  @Column({ type: 'boolean', name: 'memo_on_chain' }) memoOnChain!: boolean;
  /** The recipient may be an address of a program, which no key belongs to. */
  @Column({ type: 'boolean', name: 'allow_program_address' }) allowsProgram!: boolean;
  /** What the client calls it; unique among its transactions. */
  @Column({ type: 'text', name: 'external_id', nullable: true }) externalId!: string | null;
  /** The transfer in whose place it was made. */
  @Column({ type: 'uuid', name: 'retry_of', nullable: true }) retryOf!: string | null;
  @Column({ type: 'text', name: 'failure_code', nullable: true }) failureCode!: FailureCode | null;
  @Column({ type: 'text', name: 'failure_message', nullable: true }) failureMessage!: string | null;
  @Column({ type: 'text', name: 'idempotency_key', nullable: true }) idempotencyKey!: string | null;
  /** The user whose API key requested it; null for transactions that no user requested, such as deposits. */
  @Column({ type: 'uuid', name: 'requested_by', nullable: true }) requestedBy!: string | null;
  /** The transaction that this one serves. */
  @Column({ type: 'uuid', name: 'parent_tx_id', nullable: true }) parentTxId!: string | null;
  @Column({ type: 'text', name: 'request_id', nullable: true }) requestId!: string | null;
  @Column({ type: 'timestamptz', name: 'approval_expires_at', nullable: true }) approvalExpiresAt!: Date | null;
  @Column({ type: 'uuid', name: 'approved_by', nullable: true }) approvedBy!: string | null;
  @Column({ type: 'timestamptz', name: 'approved_at', nullable: true }) approvedAt!: Date | null;
  /** Why the transfer is cancelled on the chain without an operator's request. */
  @Column({ type: 'text', name: 'cancellation_reason', nullable: true }) cancellationReason!:
    'address_blacklisted' | 'node_policy' | 'abandoned' | 'expired' | null;
  @Column({ type: 'text', name: 'screening_note', nullable: true }) screeningNote!: string | null;
  @Column({ type: 'timestamptz', name: 'created_at', insert: false, update: false }) createdAt!: Date;
  @Column({ type: 'timestamptz', name: 'updated_at', insert: false, update: false }) updatedAt!: Date;
  @Column({ type: 'timestamptz', name: 'ended_at', nullable: true, insert: false, update: false }) endedAt!: Date | null;
}

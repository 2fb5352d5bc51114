import type { AttemptKind, TransactionIntent } from '../chains/types';
import type { TransactionEntity } from './entity';

/** What a transaction says about what it is to do. */
export type IntendedTransaction = Pick<
  TransactionEntity,
  | 'txId'
  | 'transactionType'
  | 'fromAddress'
  | 'senderAddress'
  | 'toAddress'
  | 'contractAddress'
  | 'amount'
  | 'memo'
  | 'memoOnChain'
> &
  Partial<Pick<TransactionEntity, 'allowsProgram'>>;

/** The address that signs its attempts; it need not be the one whose money moves. */
export const getSender = ({ senderAddress, fromAddress }: Pick<IntendedTransaction, 'senderAddress' | 'fromAddress'>): string =>
  senderAddress ?? fromAddress;

/** A payment of the sender. */
export const toPayment = (tx: IntendedTransaction): TransactionIntent => ({
  from: getSender(tx),
  outputs: [{ recipient: tx.toAddress, tokenContract: tx.contractAddress, amount: tx.amount }],
  ...(tx.memoOnChain && tx.memo !== null && { memo: tx.memo }),
  ...(tx.allowsProgram && { allowsProgram: true }),
});

/** What an attempt of this kind does about a transaction's intent: a cancellation moves nothing, from the sender to itself. */
export function toAttemptIntent(intent: TransactionIntent, kind: AttemptKind): TransactionIntent {
  const { from } = intent;
  return kind === 'cancellation' ? { from, outputs: [{ recipient: from, tokenContract: null, amount: 0n }] } : intent;
}

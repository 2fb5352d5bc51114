import type { AttemptKind } from '../chains/types';
import { settlementType, type TransactionType } from '../transactions/types';

/** What the chain did with an attempt that a block includes. */
interface Outcome {
  kind: AttemptKind;
  /** Not reverted. */
  success: boolean;
}

interface Received {
  /** By the recipient; atomic units of the token. null: the chain does not show it. */
  received: bigint | null;
}

/** What a transaction is to do. */
interface Asked {
  transactionType: TransactionType;
  /** Atomic units of the token. */
  amount: bigint;
}

interface Depth {
  requiredConfirmations: number;
}

/** The chain has carried out what was asked for: neither reverted nor a cancellation in its place. */
export const isExecuted = ({ kind, success }: Outcome): boolean => success && kind !== 'cancellation';

/** An executed settlement that has not brought the seller all of the payment: its goods are owed for the whole amount only. */
export const hasNotPaid = ({ transactionType, amount }: Asked, outcome: Outcome & Received): boolean =>
  transactionType === settlementType && isExecuted(outcome) && (outcome.received ?? 0n) < amount;

/**
 * Depth in blocks, the including one counted, at which an inclusion ends its transfer. What ends FAILED cannot be taken back; after a
 * reorganisation an attempt could be executed as it should, so an inclusion that was not executed, or has not paid, has to be final.
 */
export function depthOfEnd(asked: Asked & Depth, inclusion: Outcome & Received, finalityDepth: number): number {
  const { requiredConfirmations } = asked;
  const isDone = isExecuted(inclusion) && !hasNotPaid(asked, inclusion);
  return isDone ? requiredConfirmations : Math.max(requiredConfirmations, finalityDepth);
}

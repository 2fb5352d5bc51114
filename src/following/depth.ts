import type { AttemptKind } from '../chains/types';
import { settlementType, type TransactionType } from '../transactions/types';

/** What the chain did with an attempt that a block includes. */
interface Outcome {
  kind: AttemptKind;
  /** Not reverted. */
  success: boolean;
}

interface Effect {
  /** What has left the payer, and what the recipient got; atomic units of the token. null: the chain does not show it. */
  debited: bigint | null;
  received: bigint | null;
}

/** What a transaction is to do. */
interface Asked {
  transactionType: TransactionType;
  /** Atomic units of the token. */
  amount: bigint;
  isHeld: boolean;
  /** null: the native coin, which moves with the transaction itself. */
  contractAddress: string | null;
}

interface Depth {
  requiredConfirmations: number;
}

/** The chain has carried out what was asked for: neither reverted nor a cancellation in its place. */
export const isExecuted = ({ kind, success }: Outcome): boolean => success && kind !== 'cancellation';

/** An executed settlement that has not brought the seller all of the payment: its goods are owed for the whole amount only. */
export const hasNotPaid = ({ transactionType, amount }: Asked, outcome: Outcome & Effect): boolean =>
  transactionType === settlementType && isExecuted(outcome) && (outcome.received ?? 0n) < amount;

/** An executed payment of held tokens of which the chain shows nothing: none has left its account, and none has reached its recipient. */
export const hasNotMoved = ({ isHeld, contractAddress, amount }: Asked, outcome: Outcome & Effect): boolean =>
  isHeld &&
  contractAddress !== null &&
  amount > 0n &&
  isExecuted(outcome) &&
  isNothing(outcome.debited) &&
  isNothing(outcome.received);

const isNothing = (amount: bigint | null): boolean => amount === null || amount <= 0n;

/** Executed, with the effect that was asked for. */
export const isDone = (asked: Asked, outcome: Outcome & Effect): boolean =>
  isExecuted(outcome) && !hasNotPaid(asked, outcome) && !hasNotMoved(asked, outcome);

/**
 * How many endpoints have to show an inclusion before it ends its transaction: every configured one, and at least so many. 0 for what is done;
 * anything else ends FAILED and is unlocked. That a payment was executed and has moved nothing is not believed of one endpoint.
 */
export const endpointsNeeded = (asked: Asked, outcome: Outcome & Effect): number =>
  isDone(asked, outcome) ? 0 : asked.isHeld && isExecuted(outcome) ? 2 : 1;

/**
 * Depth in blocks, the including one counted, at which an inclusion ends its transfer. What ends FAILED cannot be taken back; after a
 * reorganisation an attempt could be executed as it should, so an inclusion that was not executed, or has not had its effect, has to be final.
 */
export function depthOfEnd(asked: Asked & Depth, inclusion: Outcome & Effect, finalityDepth: number): number {
  const { requiredConfirmations } = asked;
  return isDone(asked, inclusion) ? requiredConfirmations : Math.max(requiredConfirmations, finalityDepth);
}

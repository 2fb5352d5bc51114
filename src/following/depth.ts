import type { AttemptKind } from '../chains/types';

/** What an attempt in a block turned out to be. */
interface Outcome {
  kind: AttemptKind;
  /** Neither reverted nor refused by the chain. */
  success: boolean;
}

/** The chain has carried out what was asked for: neither reverted nor a cancellation in its place. */
export const isExecuted = ({ kind, success }: Outcome): boolean => success && kind !== 'cancellation';

/**
 * Depth in blocks, the including one counted, at which an inclusion ends its transfer. What was not executed is refunded, which
 * cannot be undone, and after a reorganisation another attempt could be executed: finality is waited for.
 */
export function depthOfEnd(inclusion: Outcome, requiredConfirmations: number, finalityDepth: number): number {
  return isExecuted(inclusion) ? requiredConfirmations : Math.max(requiredConfirmations, finalityDepth);
}

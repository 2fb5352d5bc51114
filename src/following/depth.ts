import type { AttemptKind } from '../chains/types';

/** What the chain did with an attempt that a block includes. */
interface Outcome {
  kind: AttemptKind;
  /** Not reverted. */
  success: boolean;
}

/** The chain has carried out what was asked for: neither reverted nor a cancellation in its place. */
export const isExecuted = ({ kind, success }: Outcome): boolean => success && kind !== 'cancellation';

/**
 * Depth in blocks, the including one counted, at which an inclusion ends its transfer. An inclusion that was not executed is
 * refunded, which cannot be undone; after a reorganisation another attempt could be executed, so it has to be final.
 */
export function depthOfEnd(inclusion: Outcome, requiredConfirmations: number, finalityDepth: number): number {
  return isExecuted(inclusion) ? requiredConfirmations : Math.max(requiredConfirmations, finalityDepth);
}

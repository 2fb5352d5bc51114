/** Waits for a chain, by the time between its blocks. */

const minute = 60_000;
/** A chain whose blocks come faster than this is asked no more often: each time leaves a dozen events in the history. */
const usualMs = 30_000;

/** For a reservation that is not possible yet. */
export interface ReserveWaits {
  firstMs: number;
  /** Each wait is twice as long as the one before, up to this. */
  longestMs: number;
  /** In all, before an operator is asked: an hour, or some 36 blocks, of which six in a row may take more than two hours. */
  totalMs: number;
}

export const reserveWaits = (blockTimeMs: number): ReserveWaits => ({
  firstMs: clamp(blockTimeMs / 2, 1_000, usualMs),
  longestMs: clamp(blockTimeMs / 2, usualMs, 5 * minute),
  totalMs: Math.max(60 * minute, 36 * blockTimeMs),
});

/** Before it is read again whether the line of the sender goes on. */
export const turnWaits = { firstMs: 1_000, longestMs: minute };

/** First and longest wait before the chain is asked directly, in case the follower's signal does not arrive. */
export const pollWaits = (blockTimeMs: number): { firstMs: number; longestMs: number } => ({
  firstMs: Math.max(15_000, blockTimeMs / 20),
  longestMs: Math.max(10 * minute, blockTimeMs),
});

const clamp = (ms: number, least: number, most: number): number => Math.min(Math.max(ms, least), most);

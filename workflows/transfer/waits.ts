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

/** Before what nodes have refused in words that nobody knows is sent again. */
const unknownAgainMs = minute;

/** How long what every node refuses for a passing reason is sent again, where a higher fee would not help; then an operator is told. */
const refusedForMs = 10 * minute;

/** How long a transfer may be in no block until something is done about it. `refused`: no node has taken it yet, and a higher fee would not help. */
export function patienceMs(stuckAfterMs: number, refused?: 'view' | 'unknown'): number {
  if (!refused) return stuckAfterMs;
  return Math.min(stuckAfterMs, refused === 'unknown' ? unknownAgainMs : refusedForMs);
}

/** Before what has parked a transfer for now is tried again: the nodes may be in order by then. */
export const triedAgainMs = (stuckAfterMs: number): number => Math.min(10 * minute, 5 * stuckAfterMs);

/** Before it is read again whether the line of the sender goes on. */
export const turnWaits = { firstMs: 1_000, longestMs: minute };

/** Blocks beside those of its confirmations: until one takes a transfer, and until the follower has told of the last one. */
const otherBlocks = 3;
/** Some blocks take longer than others. */
const patience = 1.5;

/** Before the chain is asked directly, in case the follower's signal does not arrive. */
export interface PollWaits {
  /** While no node has the transfer. */
  soonMs: number;
  /** As long as its confirmation is expected to take. */
  firstMs: number;
  longestMs: number;
}

export function pollWaits(blockTimeMs: number, confirmations: number): PollWaits {
  const soonMs = Math.max(15_000, blockTimeMs / 20);
  const longestMs = Math.max(10 * minute, blockTimeMs);
  return { soonMs, firstMs: clamp(patience * (confirmations + otherBlocks) * blockTimeMs, soonMs, 10 * minute), longestMs };
}

const clamp = (ms: number, least: number, most: number): number => Math.min(Math.max(ms, least), most);

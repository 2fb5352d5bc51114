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

/** Before what nodes have refused in words that nobody knows is sent again; and how long what was refused before operators were told is tried again. */
const againMs = minute;

/** How long what every node refuses for a passing reason is sent again, where a higher fee would not help; then operators are told. */
const refusedForMs = 10 * minute;

/**
 * How long a transfer may be in no block until something is done about it. `refused`: why no node has taken it yet. `isTold`: operators know,
 * who may abandon it only while it is parked.
 */
export function patienceMs(stuckAfterMs: number, refused?: 'price' | 'view' | 'unknown', isTold = false): number {
  if (!refused) return stuckAfterMs;
  if (isTold || refused === 'unknown') return Math.min(stuckAfterMs, againMs);
  return refused === 'view' ? Math.min(stuckAfterMs, refusedForMs) : stuckAfterMs;
}

/** How long the chain is asked again what an attempt would take, while all that answer do not say; then operators are told. */
export const estimatedForMs = (stuckAfterMs: number): number => Math.min(10 * minute, 2 * stuckAfterMs);

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

/** `headLag`: blocks that follow one before it is looked at. Whoever does not know that a block holds the transfer waits no longer than `patienceMs`. */
export function pollWaits(blockTimeMs: number, confirmations: number, headLag = 0): PollWaits {
  const soonMs = Math.max(15_000, blockTimeMs / 20);
  const firstMs = Math.max(soonMs, patience * (confirmations + headLag + otherBlocks) * blockTimeMs);
  return { soonMs, firstMs, longestMs: Math.max(10 * minute, firstMs) };
}

const clamp = (ms: number, least: number, most: number): number => Math.min(Math.max(ms, least), most);

import { NoAnswerError, ProblemError, WaitTimeoutError } from './errors';
import { isTimer, longestTimerMs, pause, withDeadline } from './wait';

export interface WaitOptions<T> {
  /** How long to wait in all; 10 minutes unless given. */
  timeoutMs?: number;
  /** Pause before the second read, and the shortest one, at least 1; it grows up to 20 times. 500 unless given. */
  intervalMs?: number;
  /** Ends the wait; what is waited for goes on. */
  signal?: AbortSignal;
  /** Called with every state that is read. */
  onRead?: (state: T) => void;
}

/**
 * Reads a state until it is one that is waited for. While the gateway does not answer, or only that it cannot, the wait goes on.
 * @param read with a signal that ends it together with the wait
 * @throws TypeError for times that cannot be waited for; WaitTimeoutError; the reason of the signal; what `read` and `onRead` throw, for refusals
 */
export async function waitUntil<T>(
  what: string,
  read: (signal: AbortSignal) => Promise<T>,
  isDone: (state: T) => boolean,
  { timeoutMs = 600_000, intervalMs = 500, signal, onRead }: WaitOptions<T> = {},
): Promise<T> {
  for (const [name, ms, shortest] of [['timeoutMs', timeoutMs, 0] as const, ['intervalMs', intervalMs, 1] as const])
    if (!isTimer(ms, shortest)) throw new TypeError(`${name} has to be a number from ${shortest} to ${longestTimerMs}`);
  const poll = async (ending: AbortSignal): Promise<T> => {
    for (let pauseMs = intervalMs; ; pauseMs = Math.min(pauseMs * 1.5, intervalMs * 20, longestTimerMs)) {
      const state = await readOnce(read, ending);
      if (state !== undefined) {
        onRead?.(state);
        if (isDone(state)) return state;
      }
      await pause(pauseMs, ending);
    }
  };
  return withDeadline(poll, { timeoutMs, late: () => new WaitTimeoutError(`waited ${timeoutMs / 1_000} s for ${what}`), signal });
}

/** Undefined while the gateway cannot say. */
async function readOnce<T>(read: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await read(signal);
  } catch (error) {
    const temporary =
      error instanceof NoAnswerError || (error instanceof ProblemError && (error.status >= 500 || error.status === 429));
    if (!temporary) throw error;
    return undefined;
  }
}

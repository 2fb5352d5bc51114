import { setTimeout as sleep } from 'node:timers/promises';

/** Node ends a timer with a longer time at once. */
export const longestTimerMs = 2_147_483_647;

export const isTimer = (ms: unknown, shortest: number): boolean =>
  typeof ms === 'number' && ms >= shortest && ms <= longestTimerMs;

/** @throws the reason of the signal as soon as it is aborted, also when it was before. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  try {
    await sleep(ms, undefined, signal && { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/**
 * Runs work with a signal that ends it after a time, for the reason `late` gives, or with the caller's signal.
 * @throws the reason of the caller's signal before anything is begun; what the work throws
 */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { timeoutMs, late, signal }: { timeoutMs: number; late: () => Error; signal?: AbortSignal | undefined },
): Promise<T> {
  signal?.throwIfAborted();
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(late()), timeoutMs);
  const stop = () => ended.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await work(ended.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/** Stops waiting for the work when the signal is aborted; the work itself goes on. @throws the reason of the signal */
export async function abortable<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return work;
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller's own reason
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

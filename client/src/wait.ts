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

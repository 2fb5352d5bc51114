import { sleep } from '../processes';

/** @throws Error with the last state when it takes longer. */
export async function poll(
  what: string,
  timeoutMs: number,
  intervalMs: number,
  check: () => Promise<{ done: boolean; state: string }>,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const { done, state } = await check();
    if (done) return;
    if (Date.now() > deadline)
      throw new Error(`timed out after ${timeoutMs / 1000} s while waiting for ${what}; last state: ${state}`);
    await sleep(intervalMs);
  }
}

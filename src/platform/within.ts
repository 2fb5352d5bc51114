/** @throws what `late` gives when the work takes longer. What is late goes on, and nobody waits for it: it needs limits of its own. */
export async function within<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), limitMs);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

/** Waits until it is done, and no longer than so many ms. What is not done goes on. @throws what it rejects with meanwhile */
export function atMost(limitMs: number, done: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs).unref();
  });
  return Promise.race([done, over]).finally(() => clearTimeout(timer));
}

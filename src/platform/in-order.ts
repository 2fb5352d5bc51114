/**
 * Results of `work` in the order of `items`. At most `atOnce` of them are worked on, or done and not yet taken: while one is used, the next
 * ones are on their way. After a failure nothing more is begun, and nothing is running any more when it is thrown.
 * @throws the rejection that is first in the order, once the results before it are taken
 */
export async function* inOrder<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const begun: Promise<R>[] = [];
  let hasFailed = false;
  try {
    for (const item of items) {
      if (hasFailed) break;
      const result = work(item);
      result.catch(() => (hasFailed = true));
      begun.push(result);
      if (begun.length === atOnce) yield await (begun.shift() as Promise<R>);
    }
    for (let next = begun.shift(); next; next = begun.shift()) yield await next;
  } finally {
    await Promise.allSettled(begun);
  }
}

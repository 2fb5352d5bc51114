import { allInOrder } from './all-in-order';

/**
 * Results of `work` in the order of `items`, of which at most `atOnce` are worked on at a time. After a failure nothing more is begun.
 * @throws one of the rejections, once nothing is running any more
 */
export async function mapBounded<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  let hasFailed = false;
  const workThrough = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      if (hasFailed) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await allInOrder(Array.from({ length: Math.min(atOnce, items.length) }, workThrough));
  return results;
}

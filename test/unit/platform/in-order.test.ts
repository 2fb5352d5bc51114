import { setTimeout as delay } from 'node:timers/promises';
import { inOrder } from '../../../src/platform/in-order';

test('gives the results in the order of the items, of which only so many are begun and not yet taken', async () => {
  let [begun, taken, most] = [0, 0, 0];
  const results = inOrder([5, 1, 4, 2, 3], 2, async (ms) => {
    begun += 1;
    most = Math.max(most, begun - taken);
    await delay(2 * ms);
    return ms * 10;
  });
  const seen: number[] = [];
  for await (const result of results) {
    await delay(15);
    seen.push(result);
    taken += 1;
  }
  expect(seen).toEqual([50, 10, 40, 20, 30]);
  expect(most).toBe(2);
  expect(await inOrder([], 3, () => Promise.reject(new Error('none'))).next()).toEqual({ done: true, value: undefined });
});

test('while one is used, the next ones are on their way', async () => {
  const begun: number[] = [];
  const begunWhileUsed: number[][] = [];
  const results = inOrder([1, 2, 3, 4], 2, (item) => {
    begun.push(item);
    return Promise.resolve(item);
  });
  for await (const item of results) begunWhileUsed.push(begun.filter((other) => other > item));
  expect(begunWhileUsed).toEqual([[2], [3], [4], []]);
});

test('what is before a failure is given; then nothing more is begun, and nothing is running when it is thrown', async () => {
  const begun: number[] = [];
  let running = 0;
  const work = async (item: number) => {
    begun.push(item);
    running += 1;
    await delay(item === 2 ? 5 : 40);
    running -= 1;
    if (item === 2) throw new Error('the second one');
    return item;
  };
  const given: number[] = [];
  const run = async () => {
    for await (const item of inOrder([1, 2, 3, 4, 5, 6], 3, work)) given.push(item);
  };
  await expect(run()).rejects.toThrow('the second one');
  expect(given).toEqual([1]);
  expect(running).toBe(0);
  expect(begun).toEqual([1, 2, 3]);
});

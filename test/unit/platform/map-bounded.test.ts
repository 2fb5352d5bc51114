import { setTimeout as delay } from 'node:timers/promises';
import { mapBounded } from '../../../src/platform/map-bounded';

test('gives the results in the order of the items, with at most so many at a time', async () => {
  let [running, most] = [0, 0];
  const results = await mapBounded([5, 1, 4, 2, 3], 2, async (ms) => {
    most = Math.max(most, (running += 1));
    await delay(2 * ms);
    running -= 1;
    return ms * 10;
  });
  expect(results).toEqual([50, 10, 40, 20, 30]);
  expect(most).toBe(2);
  expect(await mapBounded([], 3, () => Promise.reject(new Error('none')))).toEqual([]);
});

test('after a failure nothing more is begun, and nothing is running when it is thrown', async () => {
  const begun: number[] = [];
  let running = 0;
  const work = async (item: number) => {
    begun.push(item);
    running += 1;
    await delay(item === 2 ? 1 : 30);
    running -= 1;
    if (item === 2) throw new Error('the second one');
  };
  await expect(mapBounded([1, 2, 3, 4, 5], 2, work)).rejects.toThrow('the second one');
  expect(running).toBe(0);
  expect(begun).toEqual([1, 2]);
});

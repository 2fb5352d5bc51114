import { QueryFailedError } from 'typeorm';
import { allInOrder } from '../../../src/platform/all-in-order';

const failed = (code: string) => new QueryFailedError('select', [], Object.assign(new Error(code), { code }));
const later = (error: Error, ms: number) => new Promise((_, reject) => setTimeout(() => reject(error), ms));

test('gives all values in their order', async () => {
  expect(await allInOrder([Promise.resolve(1), Promise.resolve('two'), 3])).toEqual([1, 'two', 3]);
});

test('throws the first rejection of the array, not the first in time, and waits for all', async () => {
  let isDone = false;
  const slow = later(new Error('first'), 20).finally(() => (isDone = true));
  await expect(allInOrder([slow, Promise.reject(new Error('second'))])).rejects.toThrow('first');
  expect(isDone).toBe(true);
});

test('throws the statement that failed, not one that failed in consequence', async () => {
  await expect(allInOrder([later(failed('25P02'), 5), later(failed('55P03'), 1)])).rejects.toMatchObject({
    driverError: { code: '55P03' },
  });
  await expect(allInOrder([Promise.reject(failed('25P02')), Promise.resolve(1)])).rejects.toMatchObject({
    driverError: { code: '25P02' },
  });
});

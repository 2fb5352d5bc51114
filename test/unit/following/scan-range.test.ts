import { ScanRange } from '../../../src/following/scan-range';

const fails = () => Promise.reject(new Error('too many blocks'));
const succeeds = (to: number) => Promise.resolve(to);

test('halves with every failure down to one block, and grows again, slowly, since every failure costs a time-out', async () => {
  const range = new ScanRange();
  const asked: number[] = [];
  const run = (scan: (to: number) => Promise<unknown>) =>
    range
      .run(100, 1000, (to) => {
        asked.push(to - 99);
        return scan(to);
      })
      .catch(() => undefined);
  for (let times = 0; times < 7; times += 1) await run(fails);
  for (let times = 0; times < 7; times += 1) await run(succeeds);
  expect(asked).toEqual([20, 10, 5, 3, 2, 1, 1, 1, 2, 3, 4, 5, 6, 7]);
});

test('ends at the head, and passes on what the scan throws', async () => {
  const range = new ScanRange();
  expect(await range.run(100, 103, succeeds)).toBe(103);
  await expect(range.run(100, 103, fails)).rejects.toThrow('too many blocks');
});

test('is never longer than at first', async () => {
  const range = new ScanRange();
  for (let times = 0; times < 3; times += 1) expect(await range.run(100, 1000, succeeds)).toBe(119);
});

import { RefusalPace } from '../../../src/http/limits/refusal-pace';

test('a burst of refusals is answered at once, then so many a second; no answer waits longer than two seconds', () => {
  let now = 1_000;
  const pace = new RefusalPace({ perSecond: 10, burst: 3 }, () => now);
  const waits = (count: number, key = 'a') => Array.from({ length: count }, () => Math.round(pace.take(key)));
  expect(waits(6)).toEqual([0, 0, 0, 0, 100, 200]);
  expect(waits(1, 'b')).toEqual([0]);
  now += 300;
  expect(waits(2)).toEqual([0, 100]);
  const many = waits(100);
  expect(many[17]).toBe(1_900);
  expect(many.slice(18)).toEqual(Array(82).fill(2_000));
  // what has waited the longest is forgotten, so that it does not add up
  now += 2_300;
  expect(waits(4)).toEqual([0, 0, 0, 0]);
});

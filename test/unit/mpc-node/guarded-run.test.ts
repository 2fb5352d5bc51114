import { guardedRun } from '../../../src/mpc/guarded-run';
import type { ProtocolRun, RoundMessages } from '../../../src/mpc/protocols';

const none: RoundMessages = new Map();
const run = (rounds: number): ProtocolRun<string> => {
  let round = 0;
  return {
    rounds,
    start: () => Promise.resolve(none),
    next: () => Promise.resolve((round += 1) < rounds ? { messages: none } : { result: 'signature' }),
    close: () => Promise.resolve(),
  };
};

describe('a run that depends on a permission', () => {
  test('sends its first message without, every other one only with it; a result needs none', async () => {
    let permits = 0;
    const guarded = guardedRun(run(3), () => Promise.resolve(void (permits += 1)));
    await guarded.start();
    expect(permits).toBe(0);
    await guarded.next(none);
    await guarded.next(none);
    expect(permits).toBe(2);
    expect(await guarded.next(none)).toEqual({ result: 'signature' });
    expect(permits).toBe(2);
  });

  test('withholds the messages of a round when the permission is refused', async () => {
    const guarded = guardedRun(run(3), () => Promise.reject(new Error('banned')));
    await guarded.start();
    await expect(guarded.next(none)).rejects.toThrow('banned');
  });
});

import { guardedRun } from '../../../src/mpc/guarded-run';
import type { ProtocolRun, RoundMessages } from '../../../src/mpc/protocols';

const none: RoundMessages = new Map();
const begun = Promise.resolve();
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
    const guarded = guardedRun(run(3), { begun, permit: () => Promise.resolve(void (permits += 1)) });
    await guarded.start();
    expect(permits).toBe(0);
    await guarded.next(none);
    await guarded.next(none);
    expect(permits).toBe(2);
    expect(await guarded.next(none)).toEqual({ result: 'signature' });
    expect(permits).toBe(2);
  });

  test('withholds its first message until it may begin, and ends if it may not', async () => {
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const isStarted = jest.fn();
    const started = guardedRun(run(3), { begun, permit: () => Promise.resolve() })
      .start()
      .then(isStarted);
    await new Promise(setImmediate);
    expect(isStarted).not.toHaveBeenCalled();
    begin();
    await started;
    expect(isStarted).toHaveBeenCalled();
    const refused = guardedRun(run(3), { begun: Promise.reject(new Error('disk full')), permit: () => Promise.resolve() });
    await expect(refused.start()).rejects.toThrow('disk full');
  });

  test('withholds the messages of a round when the permission is refused', async () => {
    const guarded = guardedRun(run(3), { begun, permit: () => Promise.reject(new Error('banned')) });
    await guarded.start();
    await expect(guarded.next(none)).rejects.toThrow('banned');
  });
});

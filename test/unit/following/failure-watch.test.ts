import { FailureWatch } from '../../../src/following/failure-watch';
import type { ChainObservation } from '../../../src/messages/transfer';
import { createLogger } from '../../../src/platform/logging';

const logger = createLogger('test', 'error');
logger.level = 'silent';

const confirmed = (hash: string): ChainObservation => ({ state: 'confirmed', hash, blockNumber: 7, confirmations: 64 });
const all = (count: number): string[] => Array.from({ length: count }, (_, index) => `tx-${index}`);

/** A watch, and the transfers that the chain was asked about. */
function watch(observe: (txId: string) => Promise<ChainObservation>) {
  const asked: string[] = [];
  const failures = new FailureWatch({
    logger,
    observe: (txId) => {
      asked.push(txId);
      return observe(txId);
    },
  });
  const step = async (txIds: string[]): Promise<Map<string, ChainObservation>> => {
    const observations = new Map(txIds.map((txId) => [txId, confirmed('stored')]));
    await failures.ask(observations, txIds);
    return failures.correct(observations, txIds);
  };
  return { asked, step, failures };
}

beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }));
afterEach(() => jest.useRealTimers());

test('at most 50 are asked about in a step; the others are told of later', async () => {
  const { asked, step } = watch((txId) => Promise.resolve(confirmed(txId)));
  expect((await step(all(120))).size).toBe(50);
  expect(asked).toHaveLength(50);
  expect((await step(all(120))).size).toBe(100);
  expect((await step(all(120))).size).toBe(120);
  expect([...asked].sort()).toEqual(all(120).sort());
});

test('what the chain says takes the place of what was stored', async () => {
  const { step } = watch((txId) => Promise.resolve({ ...confirmed(txId), state: 'included' }));
  expect(await step(['a'])).toEqual(new Map([['a', { ...confirmed('a'), state: 'included' }]]));
});

test('what could not be asked about is left out, and asked about again after a minute, beside the others', async () => {
  let isOut = true;
  const { asked, step } = watch((txId) =>
    isOut && txId === 'a' ? Promise.reject(new Error('out')) : Promise.resolve(confirmed(txId)),
  );
  expect([...(await step(['a', 'b'])).keys()]).toEqual(['b']);
  isOut = false;
  jest.advanceTimersByTime(59_000);
  expect([...(await step(['a', 'b'])).keys()]).toEqual(['b']);
  jest.advanceTimersByTime(1_000);
  expect([...(await step(['a', 'b'])).keys()]).toEqual(['a', 'b']);
  expect(asked.filter((txId) => txId === 'a')).toHaveLength(2);
});

test('while the chain does not answer, what it was asked about is left out and not asked again, and the rest is told', async () => {
  let answer: (observation: ChainObservation) => void = () => undefined;
  const { asked, failures } = watch(() => new Promise((resolve) => (answer = resolve)));
  const observations = new Map([...all(1), 'agreed'].map((txId) => [txId, confirmed('stored')]));
  const asking = failures.ask(observations, all(1));
  expect([...failures.correct(observations, all(1)).keys()]).toEqual(['agreed']);
  await failures.ask(observations, all(1));
  expect(asked).toEqual(all(1));
  answer(confirmed('read'));
  await asking;
  expect(failures.correct(observations, all(1)).get('tx-0')).toEqual(confirmed('read'));
});

import { EndedWatch } from '../../../src/following/ended-watch';

/** How often ends are read again. What is read is tested on a database (`test/integration/following/follower.test.ts`). */

/** The first block that the follower has not read. */
const head = 100;

beforeEach(() => {
  jest.useFakeTimers({ now: 1_700_000_000_000 });
});
afterEach(() => jest.useRealTimers());

/** Statements that a watch sends, and what it says, with what the database finds. */
function watch(found: { tx_id: string; failed_in?: string }[] = []) {
  const statements: string[] = [];
  const query = (statement: string) => (statements.push(statement), Promise.resolve(found));
  const error = jest.fn();
  const onConfirmedReorged = jest.fn((_: string) => Promise.resolve());
  const options = {
    chain: { name: 'ethereum' },
    database: { manager: { query } },
    logger: { child: () => ({ error }) },
    onConfirmedReorged,
  };
  const it = new EndedWatch(options as unknown as ConstructorParameters<typeof EndedWatch>[0]);
  /** Statements of one step. */
  const step = async (nextBlock = head): Promise<number> => {
    statements.length = 0;
    await it.report(nextBlock);
    return statements.length;
  };
  return { it, step, error, onConfirmedReorged };
}

test('a contradiction is reported once it is found, and again every five minutes as long as it is one', async () => {
  const found = [{ tx_id: 'a' }];
  const { it, error, onConfirmedReorged } = watch(found);
  await it.report(head);
  await it.report(head);
  expect(error).toHaveBeenCalledTimes(1);
  expect(onConfirmedReorged.mock.calls).toEqual([['a']]);
  jest.advanceTimersByTime(5 * 60_000);
  await it.report(head);
  expect(error).toHaveBeenCalledTimes(2);
  found.length = 0;
  jest.advanceTimersByTime(60_000);
  await it.report(head);
  found.push({ tx_id: 'a' });
  await it.report(head);
  expect(error).toHaveBeenCalledTimes(3);
});

test('all ends are read at the start, after blocks were taken back, and once a minute; between these times only one thing', async () => {
  const { it, step } = watch();
  const all = await step();
  const between = await step();
  expect(between).toBeLessThan(all);
  jest.advanceTimersByTime(59_999);
  expect(await step()).toBe(between);
  jest.advanceTimersByTime(1);
  expect(await step()).toBe(all);
  expect(await step()).toBe(between);
  it.isDue = true;
  expect(await step()).toBe(all);
  expect(await step()).toBe(between);
  // the minute begins again
  jest.advanceTimersByTime(59_999);
  expect(await step()).toBe(between);
  jest.advanceTimersByTime(1);
  expect(await step()).toBe(all);
});

test('what has failed in a block that is gone is reported once more as soon as that height is read again, and no later', async () => {
  const { it, step, onConfirmedReorged } = watch([{ tx_id: 'a', failed_in: '120' }]);
  const all = await step();
  for (const next of [101, 120]) await it.report(next);
  expect(onConfirmedReorged).toHaveBeenCalledTimes(1);
  expect(await step(121)).toBe(all);
  expect(onConfirmedReorged).toHaveBeenCalledTimes(2);
  // from here on the five minutes count
  for (const next of [122, 200]) expect(await step(next)).toBeLessThan(all);
  expect(onConfirmedReorged).toHaveBeenCalledTimes(2);
  jest.advanceTimersByTime(5 * 60_000);
  await it.report(201);
  expect(onConfirmedReorged).toHaveBeenCalledTimes(3);
});

test('what has failed in a block whose height is read already is reported every five minutes alone', async () => {
  const { it, onConfirmedReorged } = watch([{ tx_id: 'a', failed_in: '99' }]);
  for (const next of [100, 101, 102]) await it.report(next);
  expect(onConfirmedReorged).toHaveBeenCalledTimes(1);
});

import type { ChainObservation } from '../../../src/messages/transfer';
import { FundingMemory } from '../../../src/following/funding-memory';
import { FundingWatch } from '../../../src/following/funding-watch';

const ends: ChainObservation = { state: 'impossible', hash: null, blockNumber: null, confirmations: 0, ends: true };
const open: ChainObservation = { state: 'absent', hash: null, blockNumber: null, confirmations: 0 };

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** A run of the follower with two parked transfers, of which one can never be executed; what it asks about. */
function run(funding: FundingMemory) {
  const asked: string[] = [];
  const waiting = [{ tx_id: 'tx1' }, { tx_id: 'tx2' }];
  const watch = new FundingWatch({
    chain: { name: 'bitcoin', finalityDepth: 6 } as never,
    client: {} as never,
    database: { manager: { query: () => Promise.resolve(waiting) } } as never,
    observe: (txId) => Promise.resolve((asked.push(txId), txId === 'tx1' ? ends : open)),
    logger: {} as never,
    signal: new AbortController().signal,
    funding,
  });
  return { watch, asked };
}

test('what one run of a follower has asked the next one does not ask again, and tells again what it has found', async () => {
  const memory = new FundingMemory();
  const first = run(memory);
  await first.watch.ask(100);
  expect(first.asked).toEqual(['tx1', 'tx2']);
  jest.advanceTimersByTime(5_000);
  const second = run(memory);
  expect([...second.watch.lost.keys()]).toEqual(['tx1']);
  await second.watch.ask(100);
  expect(second.asked).toEqual([]);
  await second.watch.ask(101);
  expect(second.asked).toEqual(['tx2']);
});

test('after another process has followed the chain everything is asked anew', async () => {
  const memory = new FundingMemory();
  await run(memory).watch.ask(100);
  jest.advanceTimersByTime(10 * 60_000);
  const later = run(memory);
  expect(later.watch.lost.size).toBe(0);
  await later.watch.ask(100);
  expect(later.asked).toEqual(['tx1', 'tx2']);
});

import type { ChainObservation } from '../../../src/messages/transfer';
import { ObservationNotifier } from '../../../src/following/observation-notifier';

const observation: ChainObservation = { state: 'confirmed', hash: '0x01', blockNumber: 7, confirmations: 12 };
const silent = { warn() {}, info() {} } as never;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('an observation without consequence is repeated at growing intervals: a parked transfer’s history stays short', async () => {
  let sent = 0;
  const signals = new ObservationNotifier(() => Promise.resolve((sent++, 'sent' as const)), silent, 30_000);
  for (let seconds = 0; seconds < 24 * 60 * 60; seconds += 15) {
    await signals.sendAll(new Map([['tx', observation]]));
    jest.advanceTimersByTime(15_000);
  }
  expect(sent).toBeGreaterThan(20);
  expect(sent).toBeLessThan(40);
});

test('a new observation is sent at once, and then repeated at short intervals again', async () => {
  const said: string[] = [];
  const signals = new ObservationNotifier((_, { state }) => Promise.resolve((said.push(state), 'sent' as const)), silent, 30_000);
  const send = (state: ChainObservation['state']) => signals.sendAll(new Map([['tx', { ...observation, state }]]));
  await send('included');
  await send('included');
  await send('confirmed');
  jest.advanceTimersByTime(30_000);
  await send('confirmed');
  expect(said).toEqual(['included', 'confirmed', 'confirmed']);
});

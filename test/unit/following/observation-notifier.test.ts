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

test('after the first signals that fail the rest is left to the next call: each would wait for its time-out', async () => {
  let tried = 0;
  const signals = new ObservationNotifier(() => (tried++, Promise.reject(new Error('away'))), silent, 30_000);
  const many = new Map(Array.from({ length: 1000 }, (_, n) => [`tx${n}`, observation]));
  await signals.sendAll(many);
  expect(tried).toBe(20);
});

test('one workflow that cannot be signalled holds up no other', async () => {
  const said = new Set<string>();
  const signals = new ObservationNotifier(
    (txId) => (txId === 'tx0' ? Promise.reject(new Error('busy')) : Promise.resolve((said.add(txId), 'sent' as const))),
    silent,
    30_000,
  );
  await signals.sendAll(new Map(Array.from({ length: 100 }, (_, n) => [`tx${n}`, observation])));
  expect(said.size).toBe(99);
});

test('after another process has followed the chain everything is told again', async () => {
  let sent = 0;
  const signals = new ObservationNotifier(() => Promise.resolve((sent++, 'sent' as const)), silent, 24 * 60 * 60_000);
  const send = () => signals.sendAll(new Map([['tx', observation]]));
  await send();
  jest.advanceTimersByTime(5 * 60_000);
  await send();
  expect(sent).toBe(1);
  jest.advanceTimersByTime(10 * 60_000);
  await send();
  expect(sent).toBe(2);
});

test('newer observations take the place of those that are not sent yet', async () => {
  const said: string[] = [];
  const signals = new ObservationNotifier((_, { state }) => Promise.resolve((said.push(state), 'sent' as const)), silent, 30_000);
  const many = (state: ChainObservation['state']) =>
    new Map(Array.from({ length: 100 }, (_, n) => [`tx${n}`, { ...observation, state }]));
  void signals.sendAll(many('included'));
  await signals.sendAll(many('confirmed'));
  expect(said.filter((state) => state === 'confirmed')).toHaveLength(100);
  expect(said.filter((state) => state === 'included')).toHaveLength(20);
});

test('what is taken back is told after whatever is on its way', async () => {
  const said: string[] = [];
  const signals = new ObservationNotifier(
    async (txId, { state }) => {
      await Promise.resolve();
      said.push(`${txId} ${state}`);
      return 'sent';
    },
    silent,
    30_000,
  );
  void signals.sendAll(new Map(Array.from({ length: 100 }, (_, n) => [`tx${n}`, observation])));
  await signals.sendTakenBack([['tx0', { ...observation, state: 'absent' }]]);
  expect(said).toHaveLength(21);
  expect(said.at(-1)).toBe('tx0 absent');
});

test('what is taken back of many is told twenty at a time, and what fails is told later, unless there is newer to say', async () => {
  let [running, most, isAway] = [0, 0, true];
  const said: string[] = [];
  const signals = new ObservationNotifier(
    async (txId, { state }) => {
      most = Math.max(most, (running += 1));
      await Promise.resolve();
      running -= 1;
      if (isAway) throw new Error('away');
      said.push(`${txId} ${state}`);
      return 'sent';
    },
    silent,
    30_000,
  );
  const absent = { ...observation, state: 'absent' } as const;
  await signals.sendTakenBack(Array.from({ length: 100 }, (_, n) => [`tx${n}`, absent] as const));
  expect([most, said]).toEqual([20, []]);
  isAway = false;
  await signals.sendAll(new Map([['tx0', observation]]));
  expect(said).toHaveLength(100);
  expect(said.filter((one) => one.startsWith('tx0 '))).toEqual(['tx0 confirmed']);
  await signals.sendAll(new Map([['tx0', observation]]));
  expect([most, said.length]).toEqual([20, 100]);
});

test('what waits is told after what was taken back, also where a signal hangs when both are said', async () => {
  const said: string[] = [];
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const signals = new ObservationNotifier(
    async (txId, { state }) => {
      said.push(`${txId} ${state}`);
      if (said.length === 1) await answered;
      return 'sent';
    },
    silent,
    30_000,
  );
  const absent = { ...observation, state: 'absent' } as const;
  void signals.sendAll(new Map([['tx0', observation]]));
  void signals.sendTakenBack([['tx0', absent]]);
  void signals.sendTakenBack([['tx1', absent]]);
  const told = signals.sendAll(new Map([['tx2', observation]]));
  expect(said).toEqual(['tx0 confirmed']);
  answer();
  await told;
  await signals.sendAll(new Map([['tx0', observation]]));
  expect(said).toEqual(['tx0 confirmed', 'tx0 absent', 'tx1 absent', 'tx2 confirmed', 'tx0 confirmed']);
});

test('workflows that take no signal hold up no others, however many they are', async () => {
  const said = new Set<string>();
  const isBroken = (txId: string) => Number(txId.slice(2)) < 50;
  const signals = new ObservationNotifier(
    (txId) => (isBroken(txId) ? Promise.reject(new Error('broken')) : Promise.resolve((said.add(txId), 'sent' as const))),
    silent,
    30_000,
  );
  const ids = Array.from({ length: 100 }, (_, n) => `tx${n}`);
  for (let calls = 0; calls < 4; calls += 1) await signals.sendAll(new Map(ids.map((txId) => [txId, observation])));
  expect(said.size).toBe(50);

  said.clear();
  const absent = { ...observation, state: 'absent' } as const;
  await signals.sendTakenBack(ids.map((txId) => [txId, absent] as const));
  for (let calls = 0; calls < 3; calls += 1) await signals.sendAll(new Map());
  expect(said.size).toBe(50);
});

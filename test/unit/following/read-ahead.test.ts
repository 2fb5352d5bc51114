import type { ScanResult } from '../../../src/chains/chain-client';
import { ReadAhead } from '../../../src/following/read-ahead';

const head = 100;

/** A chain whose scans the test ends, one after the other. */
function open(addresses: (keys: string[]) => Promise<Set<string>> = () => Promise.resolve(new Set())) {
  const asked: string[] = [];
  const waiting: { resolve: (found: ScanResult) => void; reject: (error: Error) => void }[] = [];
  let running = 0;
  let most = 0;
  const scan = async (from: number, to: number, isOurs: (keys: string[]) => Promise<Set<string>>) => {
    asked.push(`${from} to ${to}`);
    running += 1;
    most = Math.max(most, running);
    await isOurs(['key']);
    return new Promise<ScanResult>((resolve, reject) => waiting.push({ resolve, reject })).finally(() => (running -= 1));
  };
  const deposits = { depositAddresses: (_manager: unknown, _family: string, keys: string[]) => addresses(keys) };
  const options = { chain: { name: 'ethereum', family: 'evm' }, client: { scan }, database: { manager: {} }, deposits };
  /** Ends the scan that is running with blocks up to `scannedTo`. */
  const answer = async (scannedTo: number | Error) => {
    // the look-up comes before it
    await new Promise(setImmediate);
    const next = waiting.shift();
    if (scannedTo instanceof Error) next?.reject(scannedTo);
    else next?.resolve({ blocks: [], scannedTo });
    await new Promise(setImmediate);
  };
  return { reader: new ReadAhead(options as never), asked, answer, most: () => most };
}

afterEach(() => jest.restoreAllMocks());

test('the next range is read while the one before it is stored, and taken without being read again', async () => {
  const { reader, asked, answer, most } = open();
  const first = reader.take(1, head);
  await answer(20);
  expect((await first).scannedTo).toBe(20);
  reader.begin(21, head);
  await answer(40);
  expect(asked).toEqual(['1 to 20', '21 to 40']);
  expect((await reader.take(21, head)).scannedTo).toBe(40);
  reader.begin(41, head);
  // not there yet: it is waited for
  const third = reader.take(41, head);
  await answer(60);
  expect((await third).scannedTo).toBe(60);
  expect(asked).toEqual(['1 to 20', '21 to 40', '41 to 60']);
  expect(most()).toBe(1);
});

test('nothing is read above the head', () => {
  const { reader, asked } = open();
  reader.begin(head + 1, head);
  expect(asked).toEqual([]);
});

test('what follows other blocks than are stored now is thrown away, and two ranges are never read at once', async () => {
  const { reader, asked, answer, most } = open();
  reader.begin(21, head);
  // rolled back meanwhile
  const taken = reader.take(15, head);
  await answer(40);
  await answer(34);
  expect((await taken).scannedTo).toBe(34);
  expect(asked).toEqual(['21 to 40', '15 to 34']);
  expect(most()).toBe(1);
});

test('what was read ten seconds ago is read again: it may have been reorganised away', async () => {
  const { reader, asked, answer } = open();
  let now = 1_000_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  reader.begin(21, head);
  await answer(40);
  now += 10_000;
  expect((await reader.take(21, head)).scannedTo).toBe(40);
  reader.begin(41, head);
  await answer(60);
  now += 10_001;
  const late = reader.take(41, head);
  await answer(50);
  expect((await late).scannedTo).toBe(50);
  expect(asked).toEqual(['21 to 40', '41 to 60', '41 to 60']);
});

test('a failure is thrown when its range is taken, once, and makes the next one shorter', async () => {
  const { reader, asked, answer } = open();
  reader.begin(21, head);
  await answer(new Error('no answer'));
  await expect(reader.take(21, head)).rejects.toThrow('no answer');
  const again = reader.take(21, head);
  await answer(30);
  expect((await again).scannedTo).toBe(30);
  expect(asked).toEqual(['21 to 40', '21 to 30']);
});

test('a look-up that fails ends the reading, and nothing is thrown where nobody takes it', async () => {
  const { reader } = open(() => Promise.reject(new Error('no database')));
  reader.begin(21, head);
  await reader.end();
  await expect(reader.take(21, head)).rejects.toThrow('no database');
});

test('what is not wanted any more and hangs is waited for for three seconds, and nothing is begun beside it', async () => {
  const { reader, asked, answer, most } = open();
  reader.begin(21, head);
  await new Promise(setImmediate);
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance'] });
  // the range before was not stored
  const taken = reader.take(1, head);
  try {
    await jest.advanceTimersByTimeAsync(2_999);
    expect(asked).toEqual(['21 to 40']);
    await jest.advanceTimersByTimeAsync(1);
  } finally {
    jest.useRealTimers();
  }
  await new Promise(setImmediate);
  expect(asked).toEqual(['21 to 40', '1 to 20']);
  reader.begin(21, head);
  await new Promise(setImmediate);
  expect([asked.length, most()]).toEqual([2, 2]);
  // the one that hung, then the one that is wanted
  await answer(40);
  await answer(20);
  expect((await taken).scannedTo).toBe(20);
  reader.begin(21, head);
  await new Promise(setImmediate);
  expect(asked).toEqual(['21 to 40', '1 to 20', '21 to 40']);
});

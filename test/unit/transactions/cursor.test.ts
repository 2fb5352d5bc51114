import fc from 'fast-check';
import { cursorPattern, readCursor, toCursor, toTimestamp } from '../../../src/transactions/cursor';
import { moment } from '../../../src/http/schemas';

const latest = 253_402_300_799_999_999n;
const times = fc.bigInt({ min: 0n, max: latest });

test('a cursor is read as it was made', () => {
  fc.assert(
    fc.property(times, fc.uuid(), (createdAt, txId) => {
      const text = toCursor({ createdAt, txId });
      expect(text).toMatch(cursorPattern);
      expect(readCursor(text)).toEqual({ createdAt, txId });
    }),
  );
});

test('any other text is none', () => {
  const id = '0198a2b4-6f1e-7c3d-9a55-0f6c1d2e3b4a';
  const text = toCursor({ createdAt: 1n, txId: id });
  for (const other of [
    '',
    text.slice(1),
    `${text}A`,
    `${text.slice(0, 31)}=`,
    `${text.slice(0, 31)}+`,
    '_'.repeat(32),
    `${text}\n`,
  ])
    expect(readCursor(other)).toBeNull();
  expect(readCursor(toCursor({ createdAt: latest, txId: id }))).not.toBeNull();
  expect(readCursor(toCursor({ createdAt: latest + 1n, txId: id }))).toBeNull();
  expect(readCursor(toCursor({ createdAt: -1n, txId: id }))).toBeNull();
});

test('a time keeps its microseconds', () => {
  expect(toTimestamp(1_769_860_800_000_007n)).toBe('2026-01-31T12:00:00.000007Z');
  expect(toTimestamp(latest)).toBe('9999-12-31T23:59:59.999999Z');
});

test.each([
  ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31t12:00:00.123456z', '2026-01-31T12:00:00.123Z'],
  ['2026-01-31 13:30:00+01:30', '2026-01-31T12:00:00.000Z'],
  ['2024-02-29T00:00:00-00:00', '2024-02-29T00:00:00.000Z'],
])('the moment %s', (text, expected) => {
  expect((moment().validate(text).value as unknown as Date).toISOString()).toBe(expected);
});

test.each([
  '2026-02-29T00:00:00Z',
  '2026-04-31T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-10T00:00:00Z',
  '2026-01-00T00:00:00Z',
  '2026-01-31',
  '2026-01-31T12:00:00',
  '2026-01-31T25:00:00Z',
  '2026-01-31T12:00:00+99:00',
  '2026-01-31 12:00:00+99:00',
  '0000-01-01T00:00:00Z',
  '99999-01-01T00:00:00Z',
  '2026-W01-1T00:00:00Z',
])('%s is no moment', (text) => {
  expect(moment().validate(text).error).toBeDefined();
});

import * as fc from 'fast-check';
import { type CountedReader, type OrderedPage, readFromNearerEnd } from '../../../src/http/list-page';

/** A list of the numbers from `size` down to 1. `read`: rows that the database reads for it, those that it skips among them. */
function listOf(size: number) {
  const counts = { read: 0 };
  const part = ({ order, limit, offset }: OrderedPage): number[] => {
    const rows = Array.from({ length: size }, (_, index) => (order === 'asc' ? index + 1 : size - index));
    counts.read += Math.min(size, offset + limit);
    return rows.slice(offset, offset + limit);
  };
  const reader: CountedReader<{ rows: number[] }> = {
    total: () => Promise.resolve(size),
    readCounted: (page) => Promise.resolve({ rows: part(page), total: size }),
    read: (page) => Promise.resolve({ rows: part(page) }),
    nothing: { rows: [] },
  };
  return { reader, counts };
}

test('whatever page: its rows by falling number, with the total; nothing far from both ends is skipped for it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(6_000), fc.integer({ min: 1, max: 100 }), fc.nat(7_000), async (size, limit, offset) => {
      const { reader, counts } = listOf(size);
      const { rows, total } = await readFromNearerEnd(reader, { limit, offset });
      expect(total).toBe(size);
      expect(rows).toEqual(Array.from({ length: Math.max(0, Math.min(limit, size - offset)) }, (_, at) => size - offset - at));
      expect(counts.read).toBeLessThanOrEqual(Math.max(1_000, size / 2) + limit);
    }),
    { numRuns: 500 },
  );
});

test('the last page of a long list reads as much as the first one', async () => {
  for (const offset of [0, 999_990]) {
    const { reader, counts } = listOf(1_000_000);
    expect((await readFromNearerEnd(reader, { limit: 10, offset })).rows).toHaveLength(10);
    expect(counts.read).toBe(10);
  }
});

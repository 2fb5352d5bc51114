import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Clauses, type Point, points, type Shown } from './lists';
import { readTitles } from './titles';

const root = path.resolve(__dirname, '../../..');

/** The points under "What a compromised part can and cannot do", by part and list. */
function readPoints(): Record<string, string[]> {
  const text = readFileSync(path.join(root, 'SECURITY.md'), 'utf8');
  const [, section = ''] = text.split('## What a compromised part can and cannot do');
  const found: Record<string, string[]> = {};
  let [part, list] = ['', ''];
  // a point goes on in lines that are indented
  for (const line of (section.split('\n## ')[0] ?? '').replaceAll(/\n {2}(?=\S)/g, ' ').split('\n')) {
    const [, heading] = /^### (.+)$/.exec(line) ?? [];
    const [, which] = /^(Can|Cannot):$/.exec(line) ?? [];
    const [, point] = /^- (.+)$/.exec(line) ?? [];
    if (heading !== undefined) part = heading.replaceAll("'", '’');
    if (which !== undefined) list = which.toLowerCase();
    if (point !== undefined) (found[`${part}: ${list}`] ??= []).push(point.replaceAll("'", '’'));
  }
  return found;
}

const lists = readPoints();

test('the lists of SECURITY.md are those of the table', () => {
  expect(Object.keys(lists)).toEqual(Object.keys(points));
});

test.each(Object.entries(points))('%s: every point is in the table, and the other way round', (name, table) => {
  const [inDocument, inTable] = [lists[name] ?? [], Object.keys(table)];
  expect(inDocument).toHaveLength(inTable.length);
  for (const [at, words] of inTable.entries()) expect(inDocument[at]?.startsWith(words) ? words : inDocument[at]).toBe(words);
});

const isList = (point: Point): point is readonly Shown[] => Array.isArray(point);
/** A point that says one thing has a clause without words. */
const clausesOf = (point: Point): Clauses => (isList(point) ? { '': point } : point);
const clauses = Object.entries(points).flatMap(([list, table]) =>
  Object.entries(table).flatMap(([point, shown], at) =>
    Object.entries(clausesOf(shown)).map(([words, tests]) => ({ list, point, text: lists[list]?.[at] ?? '', words, tests })),
  ),
);

test.each(clauses)('$list: $point: the document says “$words”, and tests show it', ({ text, words, tests }) => {
  expect(text).toContain(words);
  expect(tests.length).toBeGreaterThan(0);
});

test('no title shows two things that differ', () => {
  const shows = new Map<string, Set<string>>();
  for (const { point, words, tests } of clauses)
    for (const shown of tests)
      shows.set(shown.join(': '), (shows.get(shown.join(': ')) ?? new Set()).add(`${point} ${words}`.trim()));
  expect([...shows].filter(([, things]) => things.size > 1)).toEqual([]);
});

test.each(clauses.flatMap(({ tests }) => tests))('%s: %s', (file, words) => {
  const titles = readTitles(path.join(root, 'test', file));
  expect(titles.some((title) => title.includes(words)) ? words : titles).toBe(words);
});

test('a title counts only where it is that of a test that is run', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'titles-'));
  const file = path.join(folder, 'sample.test.ts');
  writeFileSync(
    file,
    `// test('in a comment', () => {});
     const helper = () => query('in a helper');
     test.skip('skipped', () => {}); xtest('left out', () => {}); test.todo('to be written');
     describe.skip('a skipped group', () => test('within', () => {}));
     describe('a group', () => { test('runs', () => {}); test.each([['one', 1], ['two', 2]])('row %s', () => {}); });
     test.each(made)('made %s', () => {});`,
  );
  try {
    expect(readTitles(file)).toEqual(['a group runs', 'a group row one', 'a group row two', 'made %s']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

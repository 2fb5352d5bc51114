import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type FailureCode, failureCodes, runbookOf } from '../../../src/platform/codes';
import { documentOf, missingPoints, root, runbookHeadings, runbookParagraphs } from './documents';
import { sourceFiles } from './registered';

/** Every code that a transaction can have has a paragraph for operators, and no paragraph is of a code that is not there any more. */

const codes = Object.keys(failureCodes) as FailureCode[];
const headings = [...runbookHeadings('failure-codes.md').values()].flat();

test('a paragraph for each code that parks or ends a transaction, and for no other', () => {
  expect([...headings].sort()).toEqual(codes.filter((code) => runbookOf(code) !== null).sort());
  expect(new Set(headings).size).toBe(headings.length);
});

test('what the steps of a transaction name is one of them', () => {
  const steps = /^(workflows\/transfer|src\/transfers\/(sign|broadcast|confirm|end|operate|start)|src\/screening)\//;
  const files = sourceFiles().filter((file) => steps.test(path.relative(root, file)));
  expect(files.length).toBeGreaterThan(40);
  const source = files.map((file) => readFileSync(file, 'utf8')).join('\n');
  const named = codes.filter((code) => source.includes(`'${code}'`));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((code) => runbookOf(code) === null)).toEqual([]);
});

test('the place that explain names is a heading, as its link is made of it', () => {
  for (const code of codes) {
    const [file, anchor] = runbookOf(code)?.split('#') ?? [];
    if (anchor === undefined) continue;
    expect(file).toBe('docs/runbook/failure-codes.md');
    expect(headings.map((heading) => heading.toLowerCase())).toContain(anchor);
  }
});

test.each(runbookParagraphs('failure-codes.md'))(
  '%s says what it means, what is safe, what to look at, and with which command',
  (_code, text) => {
    expect(missingPoints(text)).toEqual([]);
  },
);

test('no paragraph is empty, and links within the page lead to one', () => {
  const text = documentOf('runbook/failure-codes.md');
  const bodies = text.split(/^### /m).slice(1);
  for (const body of bodies) expect(body.split('\n').slice(2).join(' ').length).toBeGreaterThan(80);
  for (const [, anchor = ''] of text.matchAll(/\]\(#([\w-]+)\)/g)) expect(headings).toContain(anchor);
});

test.each([
  ['what it means', 'Nothing. `gateway explain`'],
  ['what is safe', 'A node has lost its connection to the second one. Look at `gateway mpc bans` at each of them.'],
  [
    'what to look at, and with which command',
    'A node has lost its connection to the second one. The others go on, and nothing is lost.',
  ],
])('a paragraph that does not say %s would be noticed', (point, text) => expect(missingPoints(text)).toEqual([point]));

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';
import { documents } from './documents';

/** Where the documents send a reader: files, and headings in them. */

const withoutCode = (text: string): string => text.replace(/^( *)```[\s\S]*?^\1```$/gm, '');
const read = (file: string): string => readFileSync(path.join(projectRoot, file), 'utf8');

/** As GitHub makes them of headings; a second one of a name has a number. */
function anchorsOf(document: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = [...withoutCode(read(document)).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = text.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
  return new Set(anchors);
}

/** What is wrong with a link, or null. @param target as it stands in the document */
function findProblem(document: string, target: string): string | null {
  const [file = '', anchor] = target.split('#');
  const linked = file === '' ? document : path.join(path.dirname(document), file);
  if (!existsSync(path.join(projectRoot, linked))) return `${linked} is not there`;
  if (anchor === undefined || !linked.endsWith('.md')) return null;
  return anchorsOf(linked).has(anchor) ? null : `${linked} has no heading for #${anchor}`;
}

const links = documents().map((document): [string, string[]] => [
  document,
  [...withoutCode(read(document)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((it) => !/^\w+:/.test(it)),
]);

test('there are links', () => expect(links.flatMap(([, targets]) => targets).length).toBeGreaterThan(150));

test.each(links.filter(([, targets]) => targets.length > 0))('the links of %s', (document, targets) =>
  expect(targets.flatMap((target) => findProblem(document, target) ?? [])).toEqual([]),
);

test.each([
  ['docs/nowhere.md', 'docs/nowhere.md is not there'],
  ['#no-such-heading', 'README.md has no heading for #no-such-heading'],
  ['docs/chains.md#nothing', 'docs/chains.md has no heading for #nothing'],
  ['#the-first-transfer', null],
])('%s: %s', (target, problem) => expect(findProblem('README.md', target)).toBe(problem));

const folders = [
  'src',
  'workflows',
  'activities',
  'migrations',
  'dev',
  'client',
  'test',
  'docs',
  'monitoring',
  'native',
  'scripts',
  'examples',
];

test.each(['CONTRIBUTING.md', 'ARCHITECTURE.md', 'README.md'])('the files that %s names in sentences are there', (document) => {
  const named = [...withoutCode(read(document)).matchAll(/`([\w./-]+\/[\w./-]+)`/g)].map(([, file = '']) => file);
  const own = named.filter((file) => folders.includes(file.split('/')[0] ?? '') && !file.includes('dist'));
  expect(own.length).toBeGreaterThan(document === 'README.md' ? 1 : 10);
  expect(own.filter((file) => !existsSync(path.join(projectRoot, file)))).toEqual([]);
});

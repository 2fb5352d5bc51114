import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { type FailureCode, runbookOf } from '../../../src/platform/codes';
import { root, runbookHeadings } from '../monitoring/documents';

/** Where the Temporal UI sends an operator: read from the source, since no run shows all of it. */

const folder = path.join(root, 'workflows');
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file): [string, string] => [file, readFileSync(path.join(folder, file), 'utf8')]);

/** Texts for an operator, which begin with what is waited for, in bold; each with its file. */
const told = sources.flatMap(([file, text]) => {
  const found: [string, string][] = [];
  const visit = (node: ts.Node): void => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
    if (isText && node.getText().slice(1).startsWith('**')) found.push([file, node.getText().slice(1, -1)]);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
});

test('there are such texts', () => expect(told.length).toBeGreaterThan(15));

/** A user of the client decides, and nobody else can. */
const withoutPage = 'Waits for an approval';

test.each(told.filter(([, text]) => !text.includes(withoutPage)))('%s: %s names a page', (_file, text) => {
  // constants and calls that give a page
  expect(text).toMatch(/docs\/runbook\/|\$\{(runbook\(|page\}|chainSilent\}|nodeNotReady\}|asksAgain\})/);
});

test('every page that a workflow names is there', () => {
  const all = sources.map(([, text]) => text).join('\n');
  const alerts = [...runbookHeadings().values()].flat().map((heading) => heading.toLowerCase());
  const named = [...all.matchAll(/docs\/runbook\/alerts\.md#(\w+)/g)].map(([, anchor = '']) => anchor);
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter((anchor) => !alerts.includes(anchor))).toEqual([]);

  const codes = [...all.matchAll(/\brunbook\('(\w+)'\)/g)].map(([, code]) => code as FailureCode);
  expect(codes.length).toBeGreaterThan(4);
  expect(codes.filter((code) => runbookOf(code) === null)).toEqual([]);
});

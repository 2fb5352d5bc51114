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
  expect(text).toMatch(/docs\/runbook\/|\$\{(runbook\(|page\}|chainSilent\}|nodeNotReady\}|databaseAway\}|asksAgain\})/);
});

/** Calls that report a step: `report`, with what operators read as its last argument, or else as its second; the other methods name a page themselves. */
interface Report {
  file: string;
  /** The step, as the source has it. */
  step: string;
  /** The source of what operators read, with that of what it is made of. */
  advice: string;
}

const parsed = sources.map(([file, text]) => ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));

const visitAll = (node: ts.Node, visit: (node: ts.Node) => void): void => {
  visit(node);
  ts.forEachChild(node, (child) => visitAll(child, visit));
};

/** What the name is declared as in the file: its constants and functions. */
function declarationsOf(file: ts.SourceFile, name: string): ts.Node[] {
  const found: ts.Node[] = [];
  visitAll(file, (node) => {
    const isDeclaration = ts.isVariableDeclaration(node) || ts.isFunctionDeclaration(node);
    if (isDeclaration && node.name && ts.isIdentifier(node.name) && node.name.text === name) found.push(node);
  });
  return found;
}

function sourceWithParts(file: ts.SourceFile, node: ts.Node, known = new Set<ts.Node>()): string {
  if (known.has(node)) return '';
  known.add(node);
  const texts = [node.getText()];
  visitAll(node, (part) => {
    if (!ts.isIdentifier(part)) return;
    for (const declared of declarationsOf(file, part.text)) texts.push(sourceWithParts(file, declared, known));
  });
  return texts.join('\n');
}

const reports = parsed.flatMap((file) => {
  const found: Report[] = [];
  visitAll(file, (node) => {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression) || node.expression.name.text !== 'report')
      return;
    const [step, detail, , advice = detail] = node.arguments;
    found.push({
      file: file.fileName,
      step: step?.getText().replaceAll("'", '') ?? '',
      advice: advice ? sourceWithParts(file, advice) : '',
    });
  });
  return found;
});

/** Nothing is waited for in them, or nothing that somebody can do something about. */
const needNone: Record<string, string> = {
  'distribute-blacklist.ts: delivered': 'the run ends',
  'generate-key.ts: ended': 'the run ends',
  'generate-key.ts: active': 'the run ends',
  'bind-pooled-key.ts: active': 'the run ends',
  'transfer/index.ts: ended': 'the run ends; the page of its code is in the failure of the run, by its code',
  'fill-key-pool.ts: offered': 'the next key begins at once, or the run ends',
  'transfer/screen.ts: screen': 'a user of the client decides, and nobody else can',
};
const nameOf = ({ file, step }: Report): string => `${file}: ${step}`;
/** Constants of progress.ts, and calls, that give a page. */
const page = /docs\/runbook\/|\b(runbook\(|chainSilent\b|nodeNotReady\b|databaseAway\b|waitsForAuthoriser\()/;

test('every step that a workflow reports names a page, but for those that need none', () => {
  expect(reports.length).toBeGreaterThan(25);
  const without = reports.filter(({ advice }) => !page.test(advice)).map(nameOf);
  expect([...new Set(without)].sort()).toEqual(Object.keys(needNone).sort());
});

test('the authoriser is asked by no workflow that does not say so', () => {
  const silent = parsed
    .filter((file) => /\bauthoriserActivities\.\w/.test(file.text) && !/\b(askAuthoriser|waitsForAuthoriser)\(/.test(file.text))
    .map(({ fileName }) => fileName);
  expect(silent).toEqual([]);
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

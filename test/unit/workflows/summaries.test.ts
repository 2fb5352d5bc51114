import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** What the Temporal UI shows of timers and handlers: read from the source, since no run shows all of them. */

const root = path.resolve(__dirname, '../../..');
const workflows = path.join(root, 'workflows');

interface Call {
  at: string;
  name: string;
  text: string;
  arguments: number;
}

function callsOf(file: string): Call[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const found: Call[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      const at = `${path.relative(root, file)}:${line + 1}`;
      const last = node.arguments.at(-1);
      // options that several calls have
      const shared = last && ts.isIdentifier(last) ? new RegExp(`const ${last.text} = .*`).exec(source.text)?.[0] : undefined;
      const text = [node.getText(), shared].filter(Boolean).join(' with ');
      found.push({ at, name: node.expression.text, text, arguments: node.arguments.length });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const calls = readdirSync(workflows, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => callsOf(path.join(workflows, file)));
const lacking = (isMeant: (call: Call) => boolean, word: string): string[] => {
  const meant = calls.filter(isMeant);
  expect(meant.length).toBeGreaterThan(3);
  return meant.filter(({ text }) => !text.includes(word)).map(({ at, text }) => `${at} ${text}`);
};

test('every timer has a summary', () => {
  const isTimer = ({ name, arguments: given }: Call) => name === 'sleep' || (name === 'condition' && given > 1);
  expect(lacking(isTimer, 'summary')).toEqual([]);
});

test('every handler of a query, a signal or an update has a description', () => {
  expect(lacking(({ name }) => name === 'setHandler', 'description')).toEqual([]);
});

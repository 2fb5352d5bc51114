import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** Names under which a test is declared; what is skipped or to be written has another one. */
const declared = { test: 'test', it: 'test', describe: 'describe' } as const;

interface Declaration {
  what: 'test' | 'describe';
  title: string;
  /** First words of the rows of a table that is written out; none: there is no such table. */
  rows: string[];
  body: ts.Node;
}

/**
 * Titles of the tests of a file that are run, each after those of its groups, and in tables once for each row that is written out: `%s` is
 * then the first text of the row.
 */
export function readTitles(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const titles: string[] = [];
  const visit = (node: ts.Node, groups: string[]): void => {
    const found = ts.isCallExpression(node) ? toDeclaration(node) : undefined;
    if (found === 'skipped') return;
    if (!found) return ts.forEachChild(node, (child) => visit(child, groups));
    const own = found.rows.length > 0 ? found.rows.map((row) => found.title.replace('%s', row)) : [found.title];
    const paths = groups.flatMap((group) => own.map((title) => `${group} ${title}`.trim()));
    if (found.what === 'test') titles.push(...paths);
    else visit(found.body, paths);
  };
  visit(source, ['']);
  return titles;
}

/** undefined: the call declares nothing. */
function toDeclaration(call: ts.CallExpression): Declaration | 'skipped' | undefined {
  const [title, body] = call.arguments;
  const table = ts.isCallExpression(call.expression) ? call.expression : undefined;
  const callee = table ? table.expression : call.expression;
  const [name = '', ...more] = callee.getText().split('.');
  if (/^x(test|it|describe)$/.test(name)) return 'skipped';
  const what = name in declared ? declared[name as keyof typeof declared] : undefined;
  if (!what || more.includes('fn')) return undefined;
  if (more.some((word) => word !== 'each')) return 'skipped';
  if (more.length > 0 !== (table !== undefined)) return undefined;
  const text = title && (ts.isStringLiteralLike(title) ? title.text : title.getText());
  if (text === undefined || !body) return undefined;
  return { what, title: text, rows: readRows(table?.arguments[0]), body };
}

function readRows(table: ts.Expression | undefined): string[] {
  if (table && ts.isAsExpression(table)) return readRows(table.expression);
  if (!table || !ts.isArrayLiteralExpression(table)) return [];
  return table.elements.flatMap((row) => {
    const first = ts.isArrayLiteralExpression(row) ? row.elements[0] : row;
    return first && ts.isStringLiteralLike(first) ? [first.text] : [];
  });
}

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';
import { replays, timeline } from '../../../dev/replay/report';
import type { AuditRow } from '../../../src/audit/list';
import { formatAuditRows } from '../../../src/cli/audit';
import { formatRow } from '../../../src/cli/output';
import { formatFound, toMadeRow, toResultRow } from '../../../src/cli/redo';
import { formatShown } from '../../../src/cli/transfers';
import type { TransactionEntity } from '../../../src/transactions/entity';
import { readHistory } from '../../replay/history';

/** What docs/failed-transfer.md shows as the output of commands, compared with what prints it. That of `explain`: test/unit/cli/explain.test.ts. */

const text = readFileSync(path.join(projectRoot, 'docs/failed-transfer.md'), 'utf8');

/** The lines that the document shows after a command that begins so. */
function shown(command: string): string[] {
  const at = text.indexOf(`$ ${command}`);
  expect([command, at]).toEqual([command, expect.any(Number)]);
  if (at < 0) throw new Error(`the document has no ${command}`);
  const [output = ''] = text.slice(text.indexOf('\n', at) + 1).split(/^```$|^\$ /m);
  return output.trimEnd().split('\n');
}

/** Names of fields that stand before their values. */
const fieldsIn = (lines: readonly string[]): string[] => lines.flatMap((line) => /^([a-z_]+) {2,}\S/.exec(line)?.slice(1) ?? []);
const columnsOf = (line = ''): string[] => line.split(/ {2,}/);

const at = new Date(0);
const tx = {
  ...{ txId: '1', clientId: 'c', chain: 'ethereum', amount: 1n, decimals: 2, tokenSymbol: 'ETH', status: 'FAILED' },
  ...{ failureCode: null, failureMessage: null, txHash: null, createdAt: at, endedAt: at, fromAddress: '0x1', toAddress: '0x2' },
  ...{ requestId: 'r', retryOf: null },
} as unknown as TransactionEntity;

test('transfers show: its fields, some of which are left out, and its timeline', () => {
  const documented = shown('npx gateway transfers show');
  const page = formatShown({ tx, retriedBy: null, timeline: [{ status: 'PENDING', at }], attempts: [] }).split('\n');
  const [own, printed] = [documented, page].map((lines) => fieldsIn(lines.slice(0, lines.indexOf('Timeline'))));
  expect(own?.length).toBeGreaterThan(7);
  expect(own).toEqual(printed?.filter((name) => own?.includes(name)));
  const [columns, real] = [documented, page].map((lines) => columnsOf(lines[lines.indexOf('Timeline') + 1]));
  expect(columns).toEqual(real);
});

test('transfers redo of one, and of one that was redone before: their fields', () => {
  const [first, again] = text.split('Asked again, by whomever');
  const of = (part = '') => {
    const [, output = ''] = /\$ npx gateway transfers redo \S+ --yes.*\n([\s\S]*?)(?=^\n|^```$)/m.exec(part) ?? [];
    return fieldsIn(output.trimEnd().split('\n'));
  };
  const result = { outcome: 'redone', newTxId: '2', waitsFor: null } as const;
  expect(of(first)).toEqual(fieldsIn(formatRow(toResultRow('1', result)).split('\n')));
  expect(of(again)).toEqual(fieldsIn(formatRow(toMadeRow('1', tx)).split('\n')));
});

test('transfers redo --all --dry-run: its columns and totals', () => {
  const printed = formatFound([{ tx, made: null, refusal: null }]).split('\n');
  const [documented, real] = [shown('npx gateway transfers redo --all').map(columnsOf), printed.map(columnsOf)];
  expect(documented).toHaveLength(real.length);
  // headings of columns, the empty line, the title of the totals, their columns
  for (const line of [0, 2, 3, 4]) expect(documented[line]).toEqual(real[line]);
});

test('audit list: its columns, of which the last is left out', () => {
  const row: AuditRow = {
    ...({ audit_id: '1', at, action: 'transfer.redone', outcome: 'success', actor_type: 'operator' } as const),
    ...{ actor_id: 'root', client_id: 'c', subject_type: 'transaction', subject_id: '2', request_id: null },
    detail: { amount: '0.25', symbol: 'ETH', retry_of: '1' },
  };
  const [columns = '', values = ''] = formatAuditRows([row]).split('\n');
  const [documented = '', example = ''] = shown('npx gateway audit list');
  expect(columnsOf(documented)).toEqual(columnsOf(columns).slice(0, -1));
  // who, whom and what, in the same words
  for (const words of ['operator root', 'transaction ', 'amount=0.25 symbol=ETH retry_of=1'])
    expect([values, example.replace(/retry_of=\S+/, 'retry_of=1')]).toEqual([
      expect.stringContaining(words),
      expect.stringContaining(words),
    ]);
});

test('replay: the steps of a transfer that the chain has reverted, and the verdict', () => {
  const [title, columns, ...steps] = timeline(readHistory('transfer-failed-on-chain'));
  const lines = shown('npm run replay');
  const stepOf = (line: string): string => line.replace(/^ +\S+ s +\d+ {2}/, '');
  for (const line of [lines[0], title]) expect(line).toMatch(/^transfer, started at \S+Z, \d+ events$/);
  expect(lines[1]).toBe(columns);
  expect(lines.slice(2, -2).map(stepOf)).toEqual(steps.map(stepOf));
  expect(lines.slice(-2)).toEqual(['', replays]);
});

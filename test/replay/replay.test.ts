import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';

const folder = path.join(__dirname, 'histories');
const histories = readdirSync(folder).filter((file) => file.endsWith('.json'));
const codePath = path.resolve(__dirname, '../../dist/workflow-bundle.js');

/** Every workflow and every way a transfer can end; a new one is added here and by `npm run replay:add`. */
const required = [
  'deliver-webhooks',
  'distribute-blacklist',
  'follow-chain',
  'generate-key',
  'transfer-cancelled',
  'transfer-confirmed',
  'transfer-confirmed-approved',
  'transfer-failed',
  'transfer-failed-released',
  'transfer-failed-blacklisted',
  'transfer-refused',
  'transfer-rejected',
  'transfer-rejected-approval-expired',
  'transfer-rejected-blacklisted',
];

beforeAll(() => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
});

test('a history of every workflow and end state is committed', () => {
  const names = histories.map((file) => file.replace(/(-\d+)?\.json$/, ''));
  expect(required.filter((name) => !names.some((have) => have.startsWith(name)))).toEqual([]);
});

test.each(histories)('%s replays on today’s workflows', async (file) => {
  const history: unknown = JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
  await Worker.runReplayHistory({ workflowBundle: { codePath } }, history);
});

test('a history whose commands differ does not replay', async () => {
  const [file] = histories.filter((name) => name.startsWith('transfer-confirmed'));
  // as if the code had asked another step than the one it asks now
  const text = readFileSync(path.join(folder, String(file)), 'utf8').replaceAll('"prepareFees"', '"quoteFees"');
  const history: unknown = JSON.parse(text);
  await expect(Worker.runReplayHistory({ workflowBundle: { codePath } }, history)).rejects.toThrow(/[Nn]ondeterminism|quoteFees/);
});

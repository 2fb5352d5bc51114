import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';

const folder = path.join(__dirname, 'histories');
const histories = readdirSync(folder).filter((file) => file.endsWith('.json'));
const codePath = path.resolve(__dirname, '../../dist/workflow-bundle.js');

/** Every workflow, every way a transfer can end and the detours to it; a new one is added here and by `npm run replay:add`. */
const committed = [
  'deliver-webhooks.json',
  'distribute-blacklist.json',
  'follow-chain.json',
  'generate-key.json',
  'transfer-cancelled.json',
  'transfer-confirmed-approved.json',
  'transfer-confirmed-forgotten.json',
  'transfer-confirmed-replaced.json',
  'transfer-confirmed.json',
  'transfer-failed-before-signing.json',
  'transfer-failed-blacklisted-signed.json',
  'transfer-failed-blacklisted.json',
  'transfer-failed-on-chain.json',
  'transfer-failed-released.json',
  'transfer-needs-attention.json',
  'transfer-refused.json',
  'transfer-rejected-approval-expired.json',
  'transfer-rejected-blacklisted.json',
  'transfer-rejected.json',
];

beforeAll(() => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
});

test('the histories are those that are listed: none is lost unnoticed', () => {
  expect([...histories].sort()).toEqual(committed);
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

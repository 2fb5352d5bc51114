import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';

const folder = path.join(__dirname, 'histories');
const histories = readdirSync(folder).filter((file) => file.endsWith('.json'));
const codePath = path.resolve(__dirname, '../../dist/workflow-bundle.js');

/** Every workflow and every path to every end of a transfer; a new one is added here and by `npm run replay:add`. */
const committed = [
  'deliver-webhooks.json',
  'distribute-blacklist.json',
  'follow-chain.json',
  'generate-key.json',
  'read-journals.json',
  'read-orders.json',
  'transfer-cancelled.json',
  'transfer-confirmed-approved.json',
  'transfer-confirmed-forgotten.json',
  'transfer-confirmed-reissued.json',
  'transfer-confirmed-replaced.json',
  'transfer-confirmed.json',
  'transfer-failed-abandoned.json',
  'transfer-failed-before-signing.json',
  'transfer-failed-blacklisted-signed.json',
  'transfer-failed-blacklisted.json',
  'transfer-failed-by-proof.json',
  'transfer-failed-node-policy.json',
  'transfer-failed-on-chain.json',
  'transfer-needs-attention.json',
  'transfer-rejected-approval-expired.json',
  'transfer-rejected-blacklisted.json',
  'transfer-rejected.json',
];

beforeAll(() => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
});

test('the committed histories are exactly the listed ones', () => {
  expect([...histories].sort()).toEqual(committed);
});

test.each(histories)('%s replays on the current workflows', async (file) => {
  const history: unknown = JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
  await Worker.runReplayHistory({ workflowBundle: { codePath } }, history);
});

test('a deliberately changed workflow does not replay', async () => {
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: path.join(__dirname, 'changed-workflow.ts'),
    logger: new DefaultLogger('ERROR'),
  });
  const history: unknown = JSON.parse(readFileSync(path.join(folder, 'transfer-confirmed.json'), 'utf8'));
  await expect(Worker.runReplayHistory({ workflowBundle }, history)).rejects.toThrow(/[Nn]ondeterminism/);
}, 60_000);

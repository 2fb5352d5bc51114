// npm run replay:add -- <workflow-id> <name>: commits a run's history to the replay tests.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const [workflowId, name] = process.argv.slice(2);
if (!workflowId || !/^[a-z0-9-]+$/.test(name ?? '')) {
  console.error('usage: npm run replay:add -- <workflow-id> <name>   (name: lower-case letters, digits, dashes)');
  process.exit(2);
}
const stackFile = process.env.GATEWAY_TEST_STACK ?? path.join(root, '.dev', 'stack.json');
const { temporal } = JSON.parse(readFileSync(stackFile, 'utf8'));
const connection = await Connection.connect({ address: temporal.address });
const client = new Client({ connection, namespace: temporal.namespace });
const history = await client.workflow.getHandle(workflowId).fetchHistory();
const file = path.join(root, 'test/replay/histories', `${name}.json`);
writeFileSync(file, `${historyToJSON(history)}\n`);
console.log(`wrote ${path.relative(root, file)} (${history.events.length} events)`);
await connection.close();

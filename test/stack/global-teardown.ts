import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { TestStack } from './global-setup';

/** Stops the stack that this run started. Its logs stay until the next runs have pushed them out, to see why a test failed. */
export default async function stopStack(): Promise<void> {
  const { testStack } = globalThis as { testStack?: TestStack };
  if (!testStack) return;
  const { running, dataDir } = testStack;
  await running.stop();
  for (const entry of readdirSync(dataDir)) {
    if (entry !== 'logs') rmSync(path.join(dataDir, entry), { recursive: true, force: true });
  }
  removeOldLogs(path.dirname(dataDir));
}

function removeOldLogs(parent: string): void {
  const kept = 3;
  const old = readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^test-\d+$/.test(entry.name) && readdirSync(path.join(parent, entry.name)).join() === 'logs')
    .map((entry) => entry.name)
    .sort((a, b) => Number(b.slice(5)) - Number(a.slice(5)));
  for (const name of old.slice(kept)) rmSync(path.join(parent, name), { recursive: true, force: true });
}

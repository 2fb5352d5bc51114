import type { TestStack } from './global-setup';
import { releaseHeld } from './held';
import { keepOnlyLogs } from './sweep';

/** Stops the stack that this run started. */
export default async function stopStack(): Promise<void> {
  const { testStack } = globalThis as { testStack?: TestStack };
  if (!testStack) return;
  releaseHeld(testStack.dataDir);
  await testStack.running.stop();
  await testStack.proxy?.stop();
  await testStack.spans?.close();
  keepOnlyLogs(testStack.dataDir);
}

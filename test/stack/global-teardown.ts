import type { TestStack } from './global-setup';
import { keepOnlyLogs } from './sweep';

/** Stops the stack that this run started. */
export default async function stopStack(): Promise<void> {
  const { testStack } = globalThis as { testStack?: TestStack };
  if (!testStack) return;
  await testStack.running.stop();
  await testStack.proxy?.stop();
  keepOnlyLogs(testStack.dataDir);
}

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { totpCode } from '../factories';
import { dataFolder, stack, waitFor } from '../stack/client';

const currentStep = (): number => Math.floor(Date.now() / 30_000);

/** The last step that a test file of this run has used. */
const lastStepFile = (): string => path.join(dataFolder(), 'last-code-step');
const readLastStep = (): number => (existsSync(lastStepFile()) ? Number(readFileSync(lastStepFile(), 'utf8')) : 0);

/** A code of client `demo` that no request has used: it is valid for 30 s at least, and was waited for as long at most. */
export async function unusedCode(): Promise<string> {
  const step = Math.max(readLastStep() + 1, currentStep());
  writeFileSync(lastStepFile(), String(step));
  await waitFor(() => currentStep() >= step - 1, { timeoutMs: 40_000 });
  return totpCode(stack().clients.find(({ name }) => name === 'demo')?.totp_secret ?? '', step - currentStep());
}

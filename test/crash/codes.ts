import { totpCode } from '../factories';
import { stack, waitFor } from '../stack/client';

const currentStep = (): number => Math.floor(Date.now() / 30_000);
/** An earlier test file may have used the next one. */
let lastStep = currentStep() + 1;

/** A code of client `demo` that no request has used: it is valid for 30 s at least, and was waited for as long at most. */
export async function unusedCode(): Promise<string> {
  const step = Math.max(lastStep, currentStep() - 1) + 1;
  lastStep = step;
  await waitFor(() => currentStep() >= step - 1, { timeoutMs: 40_000 });
  return totpCode(stack().clients.find(({ name }) => name === 'demo')?.totp_secret ?? '', step - currentStep());
}

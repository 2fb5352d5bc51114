import { call } from '../e2e/support';
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

/**
 * Until it is answered. By one code for as long as it is valid, then by another: five wrong ones would lock the user out. Whoever has got no
 * answer learns from a later one that it is approved.
 */
export async function approve(txId: string): Promise<void> {
  let code = { value: await unusedCode(), since: Date.now() };
  const send = async () => {
    if (Date.now() - code.since > 25_000) code = { value: await unusedCode(), since: Date.now() };
    const { status, body } = await call('POST', `/transactions/${txId}/approve`, { body: { mfa_code: code.value } });
    if (status === 200 || body.code === 'not_awaiting_approval') return true;
    throw new Error(`${status} ${JSON.stringify(body)}`);
  };
  await waitFor(send, { timeoutMs: 90_000, intervalMs: 1_000 });
}

import { call } from '../e2e/support';
import { waitFor } from '../stack/client';
import { unusedCode } from './codes';

/** Requests of a client, which repeats them until they are answered. */

const patience = { timeoutMs: 90_000, intervalMs: 1_000 };

export async function cancel(txId: string): Promise<void> {
  await waitFor(async () => (await call('POST', `/transactions/${txId}/cancel`, { body: {} })).status === 200, patience);
}

/**
 * By one code for as long as it is valid, then by another: five wrong ones would lock the user out. Whoever has got no
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
  await waitFor(send, patience);
}

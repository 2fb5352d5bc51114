import { generateSync } from 'otplib';
import type { ApiClient } from './client';

interface Problem {
  code: string;
  detail: string;
}

/** Time steps of 30 s around now. Each code is accepted once, and an earlier run of the demo may have used one of them. */
const timeSteps = [0, 1, -1];

/** Adds the destination of a transfer to the client's blacklist, with a second factor, and shows that the transfer is refused. */
export async function refusedByBlacklist(
  api: ApiClient,
  transfer: { to_address: string; chain: string; amount: string },
  totpSecret: string | null,
  print: (line: string) => void,
): Promise<void> {
  if (totpSecret === null) throw new Error('client demo has no TOTP secret: `npm run dev -- --reset` makes new clients');
  const { chain, to_address: address } = transfer;
  const factor = { factor_type: 'BLACKLIST', chain, address, label: 'demo', reason: 'to show a refusal' };
  for (const step of timeSteps) {
    const mfa_code = generateSync({ secret: totpSecret, epoch: Math.floor(Date.now() / 1000) + step * 30 });
    const added = await api.request<Problem>('POST', '/client/security-factors', { body: { ...factor, mfa_code } });
    if (added.status === 201) break;
    if (added.body.code !== 'MFA_INVALID' || step === timeSteps.at(-1))
      throw new Error(`POST /client/security-factors answered ${added.status}: ${JSON.stringify(added.body)}`);
  }
  print(`${address} is on the blacklist, confirmed with a TOTP code`);
  const { status, body } = await api.request<Problem>('POST', '/transfer', { body: transfer });
  if (status !== 403 || body.code !== 'address_blacklisted')
    throw new Error(`POST /transfer to a blacklisted address answered ${status}: ${JSON.stringify(body)}`);
  print(`POST /transfer answers 403 ${body.code}: ${body.detail}`);
}

import { randomUUID } from 'node:crypto';
import { generateSync } from 'otplib';
import { type GatewayClient, ProblemError, type Schemas } from '../../client/src';
import { newRequest } from './new-request';

/** Time steps of 30 s around now. Each code is accepted once, and an earlier run of the demo may have used one of them. */
const timeSteps = [0, 1, -1];

/** Adds the destination of a transfer to the client's blacklist, with a second factor, and shows that the transfer is refused. */
export async function refusedByBlacklist(
  api: GatewayClient,
  transfer: Schemas['CreateTransferRequest'],
  totpSecret: string | null,
  print: (line: string) => void,
): Promise<void> {
  if (totpSecret === null) throw new Error('client demo has no TOTP secret: `npm run dev -- --reset` makes new clients');
  const { chain, to_address: address } = transfer;
  const factor = { factor_type: 'BLACKLIST', chain, address, label: 'demo', reason: 'to show a refusal' } as const;
  for (const step of timeSteps) {
    const mfa_code = generateSync({ secret: totpSecret, epoch: Math.floor(Date.now() / 1000) + step * 30 });
    const refusal = await refusalOf(api.post('/client/security-factors', newRequest({ ...factor, mfa_code })));
    if (refusal === null) break;
    if (refusal.code !== 'MFA_INVALID' || step === timeSteps.at(-1)) throw refusal;
  }
  print(`${address} is on the blacklist, confirmed with a TOTP code`);
  const refusal = await refusalOf(api.transfer(randomUUID(), transfer));
  if (refusal?.code !== 'address_blacklisted') throw refusal ?? new Error('a transfer to a blacklisted address was accepted');
  print(`POST /transfer answers ${refusal.status} ${refusal.code}: ${refusal.problem?.detail}`);
}

/** Null if the request is not refused. */
async function refusalOf(request: Promise<unknown>): Promise<ProblemError | null> {
  try {
    await request;
    return null;
  } catch (error) {
    if (error instanceof ProblemError) return error;
    throw error;
  }
}

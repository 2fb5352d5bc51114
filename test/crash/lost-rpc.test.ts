import type { Address } from 'viem';
import { recordDifferences } from '../adversary/records';
import { ledgerDifferences } from '../e2e/ledger';
import { newPayer, paidChain, untilSettling, usdcOf } from '../e2e/payers';
import { call } from '../e2e/support';
import { randomAddress } from '../factories';
import { api, stack, waitFor } from '../stack/client';
import { pause, pids, resumeAll } from '../stack/pause';
import { signed } from '../x402';
import { Holds } from './holds';
import { settle, settleOnce } from './settling';

/** Payments while the endpoint of their chain does not answer. */

let holds: Holds;
beforeAll(async () => {
  await untilSettling();
  holds = await Holds.install(stack().postgres.url);
});
afterEach(() => resumeAll());
afterAll(async () => {
  await holds.remove();
  expect(await recordDifferences()).toEqual([]);
});

async function payment() {
  const [payer, payTo] = [await newPayer(), randomAddress() as Address];
  return { payer, payTo, body: await signed({ kind: 'eip3009', payer, payTo }) };
}

test('lost between broadcast and receipt: pending with its hash, and paid with that hash once the chain answers', async () => {
  const { payer, payTo, body } = await payment();
  await holds.hold('broadcast: markBroadcast', payer.address);
  const { txId } = await settleOnce(body, { Prefer: 'respond-async' });
  await holds.reached('broadcast: markBroadcast', 60_000, payer.address);
  pause(`chain:${paidChain}`);
  await holds.releaseAll();
  const pending = await settleOnce(body, { Prefer: 'wait=3' });
  expect(pending).toMatchObject({ success: false, errorReason: 'settlement_pending', txId });
  expect(pending.transaction).toMatch(/^0x[0-9a-f]{64}$/);
  resumeAll();
  expect(await settle(body)).toMatchObject({ success: true, txId, transaction: pending.transaction });
  expect(await usdcOf(payTo)).toBe(1_000n);
  expect(await ledgerDifferences()).toEqual([]);
});

test('down while a payment is verified: no verdict, and the process goes on', async () => {
  const { payTo, body } = await payment();
  const before = pids('api');
  pause(`chain:${paidChain}`);
  const verify = () => api().request<{ isValid: boolean; invalidReason: string | null }>('POST', '/x402/verify', { body });
  const answers = await Promise.all(Array.from({ length: 5 }, verify));
  for (const answer of answers)
    expect(answer).toMatchObject({ status: 200, body: { isValid: false, invalidReason: 'unexpected_verify_error' } });
  expect(await settleOnce(body)).toMatchObject({ success: false, transaction: '', errorReason: 'unexpected_verify_error' });
  expect((await call('GET', '/health/live')).status).toBe(200);
  expect(pids('api')).toEqual(before);
  resumeAll();
  await waitFor(async () => (await verify()).body.isValid, { timeoutMs: 60_000 });
  expect(await settle(body)).toMatchObject({ success: true });
  expect(await usdcOf(payTo)).toBe(1_000n);
});

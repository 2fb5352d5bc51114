import { totpCode } from '../factories';
import { startReceiver } from '../integration/webhooks/receiver';
import { api, stack, waitFor } from '../stack/client';
import { openDatabase } from '../stack/database';
import { type CarriedOut, fundedAccounts, Transfers } from './carry-out';
import { round } from './load';
import { measureProcessor } from './stack-processor';

/** Transfers of a client that has an endpoint for all its events, and without it, by turns in one run. */
const inFlight = 100;
const count = Number(process.env.BENCH_TRANSFERS ?? 150);
const rounds = 2;

test('transfers a second with a webhook and without', async () => {
  const accounts = await fundedAccounts(4);
  const [transfers, receiver] = [await Transfers.open(), await startReceiver()];
  const { totp_secret: secret } = stack().clients.find(({ name }) => name === 'demo') ?? {};
  const created = await api().request<{ webhook_id: string }>('POST', '/webhooks', {
    body: { url: receiver.url, mfa_code: totpCode(secret as string) },
  });
  expect(created.status).toBe(201);
  const database = await openDatabase(stack().postgres.url, { poolSize: 1 });
  // in the database: a code of the second factor is good for one request
  const turn = (side: 'off' | 'on') =>
    database.query(
      side === 'on'
        ? `update webhook_endpoints set status = 'enabled', disabled_reason = null, disabled_at = null where url = $1`
        : `update webhook_endpoints set status = 'disabled', disabled_reason = 'client', disabled_at = now() where url = $1`,
      [receiver.url],
    );
  const allDelivered = async () =>
    (await database.query<unknown[]>(`select from webhook_deliveries where status = 'pending' limit 1`)).length === 0;
  const runs: Record<'off' | 'on', CarriedOut[]> = { off: [], on: [] };
  const cpu: Record<'off' | 'on', number[]> = { off: [], on: [] };
  await transfers.carryOut({ count: 20, inFlight: 20, accounts });
  await waitFor(allDelivered, { timeoutMs: 60_000 });
  for (let round = 0; round < 2 * rounds; round += 1) {
    const side = round % 2 === 0 ? 'off' : 'on';
    await turn(side);
    const used = measureProcessor(undefined);
    runs[side].push(await transfers.carryOut({ count, inFlight, accounts }));
    // on both sides, since what is asked here takes time of the processor too
    await waitFor(allDelivered, { timeoutMs: 60_000 });
    cpu[side].push(used(count).all);
  }
  const rate = (side: 'off' | 'on') => round((rounds * count) / runs[side].reduce((sum, { seconds }) => sum + seconds, 0));
  process.stdout.write(
    `${JSON.stringify({
      ...{ bench: 'webhooks', transfers: rounds * count, in_flight: inFlight, received: receiver.received.length },
      ...{ per_second: rate('on'), baseline_per_second: rate('off'), fewer_percent: round((1 - rate('on') / rate('off')) * 100) },
      rounds: { on: runs.on.map(({ per_second: each }) => each), off: runs.off.map(({ per_second: each }) => each) },
      cpu_ms_with_polls: cpu,
    })}\n`,
  );
  expect(receiver.received.length).toBeGreaterThanOrEqual(rounds * count);
  await Promise.all([receiver.close(), transfers.close(), database.destroy()]);
}, 600_000);

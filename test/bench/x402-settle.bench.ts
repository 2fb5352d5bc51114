import type { PrivateKeyAccount } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { newPayer, paidChain, paidOn, untilSettling } from '../e2e/payers';
import { api, fund, stack } from '../stack/client';
import { signed } from '../x402';
import { load, percentiles, residentMb, round } from './load';
import { post, startOfficial } from './official';
import { idleShare, measureProcessor, roundShares } from './stack-processor';

/** Settlements over HTTP, beside the official facilitator on the same chain; whose blocks come once a second is part of both. */

const oneByOne = 20;
const hundred = { count: 100, inFlight: 16 };

interface Answer {
  success: boolean;
}
type Settle = (body: object) => Promise<Answer>;

const ours: Settle = async (body) => (await api().request<Answer>('POST', '/x402/settle', { body })).body;

/** The official facilitator with a key of its own. */
async function officialSettler() {
  const privateKey = generatePrivateKey();
  await fund(paidChain, 'ETH', privateKeyToAccount(privateKey).address, '10');
  const { url, close } = await startOfficial(paidOn().rpc, { privateKey });
  return { settle: (body: object) => post<Answer>(`${url}/settle`, body), close };
}

const payment = (payer: PrivateKeyAccount) => signed({ kind: 'eip3009', payer });

async function settleHundred(settle: Settle, payer: PrivateKeyAccount) {
  const bodies = await Promise.all(Array.from({ length: hundred.count }, () => payment(payer)));
  let ok = 0;
  const began = performance.now();
  const times = await load(hundred.count, hundred.inFlight, async () => {
    const { success } = await settle(bodies.pop() ?? {});
    if (success) ok += 1;
  });
  return { ok, seconds: round((performance.now() - began) / 1000), ...times };
}

test('settlements', async () => {
  await untilSettling();
  const official = await officialSettler();
  const payer = await newPayer();
  await ours(await payment(payer));
  await official.settle(await payment(payer));
  const [own, theirs]: [number[], number[]] = [[], []];
  for (let index = 0; index < oneByOne; index += 1) {
    for (const [settle, times] of [[ours, own] as const, [official.settle, theirs] as const]) {
      const body = await payment(payer);
      const began = performance.now();
      expect(await settle(body)).toMatchObject({ success: true });
      times.push(performance.now() - began);
    }
  }
  const [settle_ms, baseline] = [percentiles(own), percentiles(theirs)];
  const idle = await idleShare();
  const processor = measureProcessor(idle);
  const at16 = await settleHundred(ours, payer);
  const cpu_ms = processor(hundred.count);
  const baselineAt16 = await settleHundred(official.settle, payer);
  process.stdout.write(
    `${JSON.stringify({
      bench: 'x402 settle',
      one_by_one: oneByOne,
      baseline_official_ms: baseline,
      settle_ms,
      settle_to_baseline_p50: round(settle_ms.p50 / baseline.p50),
      in_flight: hundred.inFlight,
      baseline_official_hundred: baselineAt16,
      hundred: at16,
      cpu_ms,
      idle_share: roundShares(idle),
      resident_mb: Object.fromEntries(['api', 'worker', 'mpc'].map((name) => [name, stack().processes[name]?.map(residentMb)])),
    })}\n`,
  );
  official.close();
}, 600_000);

import { openShop, type SellerScene } from '../../integration/x402/seller';
import { type Kind, signed } from '../../x402';
import { delayedRpc } from '../delayed-rpc';
import { percentiles, round } from '../load';
import { type Asker, post, startAsker, startOfficial } from '../official';

const kinds: Kind[] = ['eip3009', 'permit2', 'upto'];
const warmUp = 50;
/** In each of the rounds both answer the same payments, one facilitator after the other. */
const atOnce = { inFlight: 16, rounds: 3 };

/**
 * Milliseconds over HTTP, one payment at a time, and verdicts a second at 16 in flight; in turns, so that both meet the same load of the
 * machine. `rpc_delay_ms`: how far the chain's node is away from both; at 0 it is a local chain on the same machine, as no facilitator has it.
 */
test.each([
  { delayMs: 0, count: 300 },
  { delayMs: 20, count: 100 },
])(
  'a verdict on a good payment, the node $delayMs ms away',
  async ({ delayMs, count }) => {
    let away = { url: '', close: () => {} };
    const reach = async (rpc: string) => {
      if (delayMs === 0) return rpc;
      away = await delayedRpc(rpc, delayMs);
      return away.url;
    };
    const shop = await openShop({ reach });
    const official = await startOfficial(away.url || shop.payers.anvil.rpc, { address: shop.primary });
    const asker = startAsker();
    for (const kind of kinds) await verifyInTurns(kind, { shop, official: official.url, asker, delayMs, count });
    asker.close();
    official.close();
    away.close();
    await shop.close();
  },
  300_000,
);

interface Load {
  shop: SellerScene;
  /** Url. */
  official: string;
  asker: Asker;
  delayMs: number;
  count: number;
}

async function verifyInTurns(kind: Kind, load: Load): Promise<void> {
  const { shop, delayMs, count } = load;
  const [ours, theirs] = facilitators(load);
  const [own, official]: [number[], number[]] = [[], []];
  for (let index = 0; index < warmUp + count; index += 1) {
    const body = await pay(kind, shop);
    const began = performance.now();
    expect(await post(ours.url, body, ours.token)).toMatchObject({ isValid: true });
    const between = performance.now();
    expect(await post(theirs.url, body)).toMatchObject({ isValid: true });
    if (index < warmUp) continue;
    own.push(between - began);
    official.push(performance.now() - between);
  }
  const [verify_ms, baseline_official_ms] = [percentiles(own), percentiles(official)];
  const ratio = { verify_to_baseline_p50: round(verify_ms.p50 / baseline_official_ms.p50) };
  const line = { bench: 'x402 verify', kind, rpc_delay_ms: delayMs, count, baseline_official_ms, verify_ms, ...ratio };
  process.stdout.write(`${JSON.stringify({ ...line, ...(await ratesInTurns(kind, load)) })}\n`);
}

/** Verdicts a second. */
async function ratesInTurns(kind: Kind, load: Load) {
  const { shop, asker, count } = load;
  const { inFlight, rounds } = atOnce;
  const seconds = [0, 0];
  for (let done = 0; done < rounds; done += 1) {
    const bodies = await Promise.all(Array.from({ length: count }, () => pay(kind, shop)));
    for (const [index, facilitator] of facilitators(load).entries()) {
      const answered = await asker.ask({ ...facilitator, inFlight, bodies });
      expect(answered.ok).toBe(count);
      seconds[index] = (seconds[index] ?? 0) + answered.seconds;
    }
  }
  const [rate_per_second, baseline_official_rate] = seconds.map((each) => round((count * rounds) / each));
  return { in_flight: inFlight, baseline_official_rate, rate_per_second };
}

const facilitators = ({ shop, official }: Load) =>
  [{ url: `${shop.fixture.base}/x402/verify`, token: shop.seller.token }, { url: `${official}/verify` }] as const;

const pay = (kind: Kind, { payers, primary }: SellerScene) => signed({ kind, payer: payers.payer, facilitator: primary });

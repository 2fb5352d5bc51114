import { openShop, type SellerScene } from '../../integration/x402/seller';
import { type Kind, signed } from '../../x402';
import { delayedRpc } from '../delayed-rpc';
import { percentiles, round } from '../load';
import { post, startOfficial } from '../official';

const kinds: Kind[] = ['eip3009', 'permit2', 'upto'];
const warmUp = 50;

/**
 * Milliseconds over HTTP, in turns, so that both meet the same load of the machine. `rpc_delay_ms`: how far the chain's node is away from both;
 * at 0 it is a local chain on the same machine, as no facilitator has it.
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
    for (const kind of kinds) await verifyInTurns(kind, { shop, official: official.url, delayMs, count });
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
  delayMs: number;
  count: number;
}

async function verifyInTurns(kind: Kind, { shop, official, delayMs, count }: Load): Promise<void> {
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let index = 0; index < warmUp + count; index += 1) {
    const body = await signed({ kind, payer: shop.payers.payer, facilitator: shop.primary });
    const began = performance.now();
    expect(await post(`${shop.fixture.base}/x402/verify`, body, shop.seller.token)).toMatchObject({ isValid: true });
    const between = performance.now();
    expect(await post(`${official}/verify`, body)).toMatchObject({ isValid: true });
    if (index < warmUp) continue;
    ours.push(between - began);
    theirs.push(performance.now() - between);
  }
  const [verify_ms, baseline_official_ms] = [percentiles(ours), percentiles(theirs)];
  const ratio = { verify_to_baseline_p50: round(verify_ms.p50 / baseline_official_ms.p50) };
  const line = { bench: 'x402 verify', kind, rpc_delay_ms: delayMs, count, baseline_official_ms, verify_ms, ...ratio };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

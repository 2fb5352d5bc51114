import type { JsonObject } from '../../../src/chains/types';
import { officialFacilitator } from '../../integration/x402/official-facilitator';
import { openShop } from '../../integration/x402/seller';
import { type Kind, signed } from '../../x402';
import { serveByExpress } from '../express';
import { percentiles, round } from '../load';

const count = 300;
const warmUp = 50;
const kinds: Kind[] = ['eip3009', 'permit2', 'upto'];

/** In turns, so that both meet the same load of the machine. Milliseconds over HTTP; all of it is one process but for the chain and Postgres. */
test('a verdict on a good payment', async () => {
  const shop = await openShop();
  const verify = officialFacilitator(shop.payers.anvil.rpc, shop.primary);
  const official = await serveByExpress(async (body) => ({ verdict: await verify(body) }));
  const post = async (url: string, body: JsonObject, token?: string): Promise<string> => {
    const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
    return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).text();
  };
  for (const kind of kinds) {
    const [ours, theirs]: [number[], number[]] = [[], []];
    for (let index = 0; index < warmUp + count; index += 1) {
      const body = await signed({ kind, payer: shop.payers.payer, facilitator: shop.primary });
      const began = performance.now();
      expect(await post(`${shop.fixture.base}/x402/verify`, body, shop.seller.token)).toMatch(/"isValid":true/);
      const between = performance.now();
      expect(await post(official.url, body)).toMatch(/"verdict":"valid"/);
      if (index >= warmUp) {
        ours.push(between - began);
        theirs.push(performance.now() - between);
      }
    }
    const [own, baseline] = [percentiles(ours), percentiles(theirs)];
    process.stdout.write(
      `${JSON.stringify({ bench: 'x402 verify', kind, count, baseline_official_ms: baseline, verify_ms: own, verify_to_baseline_p50: round(own.p50 / baseline.p50) })}\n`,
    );
  }
  official.close();
  await shop.close();
}, 300_000);

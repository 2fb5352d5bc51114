import { openShop } from '../../integration/x402/seller';
import { type Kind, signed } from '../../x402';
import { delayedRpc } from '../delayed-rpc';
import { startAsker, startOfficial } from '../official';
import { verifyInTurns } from '../verify-in-turns';

const kinds: Kind[] = ['eip3009', 'permit2', 'upto'];

/** `rpc_delay_ms`: how far the chain's node is away from both; at 0 it is a local chain on the same machine, as no facilitator has it. */
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
    const { payers, primary, fixture, seller } = shop;
    const official = await startOfficial(away.url || payers.anvil.rpc, { address: primary });
    const asker = startAsker();
    for (const kind of kinds) {
      const pay = () => signed({ kind, payer: payers.payer, facilitator: primary });
      const ours = { url: `${fixture.base}/x402/verify`, token: seller.token, pay };
      const theirs = { url: `${official.url}/verify`, pay };
      await verifyInTurns({ kind, rpc_delay_ms: delayMs }, { ours, theirs, asker, count });
    }
    asker.close();
    official.close();
    away.close();
    await shop.close();
  },
  300_000,
);

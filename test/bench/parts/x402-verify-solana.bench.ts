import type { Address } from '@solana/kit';
import { SolanaPaymentClient } from '../../../src/chains/solana/payments/client';
import { newId } from '../../../src/platform/ids';
import { buildTenant, createFixture, tokenOptions } from '../../integration/http/fixture';
import { setPolicy } from '../../integration/x402/seller';
import { buildSettler } from '../../integration/x402/settlement-fixture';
import { isInstalled } from '../../unit/x402/solana/official';
import {
  bodyOf,
  chainDefinition,
  type Holder,
  limit,
  makeHolder,
  memo,
  offer,
  pay,
  price,
  registry,
  terms,
} from '../../unit/x402/solana/scene';
import { delayedRpc } from '../delayed-rpc';
import { startAsker, startOfficialOnSolana } from '../official';
import { SolanaProcess } from '../solana-process';
import { verifyInTurns } from '../verify-in-turns';

// skipped: `npm ci --prefix test/official --ignore-scripts` was not run
const testOfficial = isInstalled ? test : test.skip;

/** What a test has started, also where it fails: the newest ends first. */
const started: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of started.splice(0).reverse()) await close();
}, 30_000);

/** As x402-verify.bench.ts; each facilitator has a settler of its own, who pays the fees of its transactions. */
testOfficial.each([
  { delayMs: 0, count: 300 },
  { delayMs: 20, count: 100 },
])(
  'a verdict on a good payment on Solana, the node $delayMs ms away',
  async ({ delayMs, count }) => {
    const node = await SolanaProcess.start();
    started.push(() => node.stop());
    const away = delayMs === 0 ? { url: node.url, close: () => {} } : await delayedRpc(node.url, delayMs);
    started.push(() => away.close());
    const payments = new Map([[chainDefinition.name, new SolanaPaymentClient(chainDefinition, [`${away.url}?rate=1000`])]]);
    const fixture = await createFixture({ chains: registry, payments, tokens: { ...tokenOptions, ttlSeconds: 3_600 } });
    started.push(() => fixture.close());
    const tenant = await buildTenant(fixture);
    await setPolicy(fixture.database, tenant, { chain: chainDefinition.name });
    const { settler, account } = await buildSettler(fixture.database, chainDefinition);
    await fixture.database.query('update settlers set is_primary = true where settler_id = $1', [settler.settlerId]);
    await node.client.fund(account.address, 5_000_000_000n);
    const [payer, seller, theirSettler] = [
      await makeHolder(node, 1_000_000n),
      await makeHolder(node, 1_000n),
      await makeHolder(node),
    ];
    await node.settle();
    const official = await startOfficialOnSolana(away.url, chainDefinition.caip2, theirSettler.secret);
    const asker = startAsker();
    started.push(
      () => official.close(),
      () => asker.close(),
    );
    const payTo = (feePayer: Address) => async (): Promise<object> => {
      const settling: Holder = { ...payer, address: feePayer };
      const scene = { payer, seller: seller.address, settler: settling, blockhash: await node.blockhash() };
      const transaction = offer(scene, { instructions: [limit(), price(), await pay(scene), memo(newId())] });
      return bodyOf(2, { transaction }, terms(scene, 2));
    };
    const ours = { url: `${fixture.base}/x402/verify`, token: tenant.token, pay: payTo(account.address as Address) };
    const theirs = { url: `${official.url}/verify`, pay: payTo(theirSettler.address) };
    await verifyInTurns({ kind: 'solana', rpc_delay_ms: delayMs }, { ours, theirs, asker, count });
  },
  300_000,
);

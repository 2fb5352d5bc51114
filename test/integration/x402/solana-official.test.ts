import { presentSettled } from '../../../src/x402/presenter';
import { isInstalled, officialPayload } from '../../unit/x402/solana/official';
import { bodyOf, caip2, terms } from '../../unit/x402/solana/scene';
import { createSolanaFixture, ServedPayments } from './solana-fixture';

/** Payments as the official client makes them, settled on a local chain, which has the name of mainnet. */

jest.setTimeout(120_000);

const served = new ServedPayments(createSolanaFixture);

// skipped: `npm ci --prefix test/official --ignore-scripts` was not run
const testOfficial = isInstalled ? test : test.skip;

testOfficial.each([1, 2] as const)('version %i: a payment of the official client is settled', async (version) => {
  const { fixture } = served;
  const { settler, seller, payer, solanaChain } = fixture;
  await served.serve();
  const required = terms({ seller: seller.address, settler }, version);
  const payload = await officialPayload(version, { url: solanaChain.local.url, payer: payer.signer, required });
  const settled = await served.during(served.settling(60_000).settle(bodyOf(version, payload, required)));
  expect(presentSettled(settled)).toMatchObject({ success: true, network: caip2, payer: payer.address, amount: '1000' });
  await served.ends(settled.txId as string, 'CONFIRMED');
  expect(await fixture.tokensOf(seller)).toBe(1_001n);
});

import { verifyLedger } from '../../src/ledger/verify';
import { bodyFor, createSolanaFixture, offered, ServedPayments } from '../integration/x402/solana-fixture';
import { caip2, makeHolder } from '../unit/x402/solana/scene';
import { SurfpoolChain } from './chain';
import { onSurfpool } from './fixture';

/** A payment of x402 on surfpool: verified, signed by the settler, sent, finalized. */

jest.setTimeout(120_000);

const served = new ServedPayments(() => createSolanaFixture({}, () => SurfpoolChain.open()));

onSurfpool('a payment is verified and settled once, and the settler is charged what it has cost', async () => {
  const { fixture } = served;
  await served.serve();
  const { settle } = served.settling(60_000);
  const body = bodyFor(fixture, 2, await offered(fixture));
  const [answer, again] = await served.during(Promise.all([settle(body), settle(body)]));
  expect(answer).toMatchObject({ reason: null, network: caip2, amount: 1_000n });
  expect(again).toEqual(answer);
  await served.ends(answer?.txId as string, 'CONFIRMED');
  expect([await fixture.tokensOf(fixture.seller), await fixture.tokensOf(fixture.payer)]).toEqual([1_001n, 4_999_000n]);
  const available = await fixture.solanaChain.balance(fixture.settler.address);
  expect(await fixture.balance(fixture.settler, 'SOL')).toEqual({ available, locked: 0n });
  expect(await verifyLedger(fixture.database.manager)).toEqual([]);
});

onSurfpool('what the simulation refuses is not settled', async () => {
  const { fixture } = served;
  const { settle } = served.settling(60_000);
  const payer = await makeHolder(fixture.solanaChain, 999n);
  expect(await settle(bodyFor(fixture, 2, await offered({ ...fixture, payer })))).toMatchObject({
    ...{ reason: 'invalid_exact_svm_transaction_simulation_failed', hash: '' },
  });
  expect(await fixture.database.query('select from x402_settlements')).toEqual([]);
});

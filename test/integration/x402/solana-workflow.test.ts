import type { JsonObject } from '../../../src/chains/types';
import { verifyLedger } from '../../../src/ledger/verify';
import { presentSupported } from '../../../src/x402/presenter';
import { buildClient } from '../../factories';
import { createAssociated, transferToken } from '../../solana-chain';
import { caip2 } from '../../unit/x402/solana/scene';
import { bodyFor, createSolanaFixture, offered, ServedPayments, type SolanaFixture } from './solana-fixture';

/** Payments of Solana from /settle to their end, by the workflow of transfers on a local chain. */

jest.setTimeout(120_000);

const served = new ServedPayments(createSolanaFixture, settlerBooksAgree);
let fixture: SolanaFixture;
beforeEach(() => {
  fixture = served.fixture;
});

const waitMs = 60_000;

async function settlerBooksAgree(): Promise<void> {
  await fixture.mine(4);
  const available = await fixture.solanaChain.balance(fixture.settler.address);
  expect(await fixture.balance(fixture.settler, 'SOL')).toEqual({ available, locked: 0n });
  expect(await verifyLedger(fixture.database.manager)).toEqual([]);
}

const charges = () =>
  fixture.database.query<{ parent_tx_id: string; amount: string; status: string }[]>(
    `select parent_tx_id, amount, status from transactions where transaction_type = 'GAS' order by tx_id`,
  );

test('a payment is executed once, by the settler, which is charged for it; 20 equal requests get one answer, and so does a later one', async () => {
  await served.serve();
  const { settle } = served.settling(waitMs);
  const body = bodyFor(fixture, 2, await offered(fixture));
  const answers = await served.during(Promise.all(Array.from({ length: 20 }, () => settle(body))));
  const [first] = answers;
  expect(first).toMatchObject({ reason: null, network: caip2, amount: 1_000n });
  for (const answer of answers) expect(answer).toEqual(first);
  const txId = first?.txId as string;
  await served.ends(txId, 'CONFIRMED');
  expect([await fixture.tokensOf(fixture.seller), await fixture.tokensOf(fixture.payer)]).toEqual([1_001n, 4_999_000n]);
  const { fee, from_address: from, sender_address: sender, tx_hash: hash } = await fixture.transaction(txId);
  expect([from, sender, hash]).toEqual([fixture.payer.address, fixture.settler.address, first?.hash]);
  // two signatures, and 20,000 units at a millionth of a lamport
  expect(fee).toBe('10001');
  expect(await charges()).toEqual([{ parent_tx_id: txId, amount: '10001', status: 'CONFIRMED' }]);
  expect(await settle(body)).toEqual(first);
  expect(await fixture.attempts(txId)).toHaveLength(1);
});

test('a payment is one, whatever its version says and whatever stands in the place of the settler: it is settled for whoever asked first', async () => {
  await served.serve();
  const { settle } = served.settling(waitMs);
  const transaction = await offered(fixture);
  const filled = Buffer.from(transaction, 'base64').fill(7, 1, 65).toString('base64');
  const first = await served.during(settle(bodyFor(fixture, 2, transaction)));
  expect(first.reason).toBeNull();
  // the same terms in the same version
  expect(await settle(bodyFor(fixture, 2, filled))).toEqual(first);
  const other = await buildClient(fixture.database);
  await fixture.database.query(
    `insert into x402_policies (client_id, chain, is_enabled, sponsors_permit, sponsors_approval, top_up_per_day)
     values ($1, 'solana', true, false, false, 0)`,
    [other.clientId],
  );
  const [sameInV1, ofAnotherOrder, same] = [
    bodyFor(fixture, 1, transaction),
    bodyFor(fixture, 2, transaction),
    bodyFor(fixture, 2, transaction),
  ];
  Object.assign((ofAnotherOrder.paymentRequirements as JsonObject).extra as JsonObject, { memo: 'order-2' });
  for (const answer of [settle(sameInV1), settle(ofAnotherOrder), settle(same, other.clientId)])
    expect(await answer).toMatchObject({ reason: 'duplicate_settlement', hash: '' });
  await served.ends(first.txId as string, 'CONFIRMED');
  expect(await fixture.tokensOf(fixture.seller)).toBe(1_001n);
});

test('many payments at once are settled by one account, each once', async () => {
  await served.serve();
  const { settle } = served.settling(waitMs);
  const bodies = await Promise.all(Array.from({ length: 8 }, async () => bodyFor(fixture, 2, await offered(fixture))));
  const answers = await served.during(Promise.all(bodies.map((body) => settle(body))));
  expect(answers.filter(({ reason }) => reason !== null)).toEqual([]);
  expect(new Set(answers.map(({ hash }) => hash)).size).toBe(8);
  for (const { txId } of answers) await served.ends(txId as string, 'CONFIRMED');
  expect(await fixture.tokensOf(fixture.seller)).toBe(8_001n);
});

test('what is lost on its way is sent again while it is valid', async () => {
  await served.serve();
  await fixture.solanaChain.client.call('drop', { count: 2 });
  const { settle } = served.settling(waitMs);
  // at the pace of the network: the block hash is good for 150 blocks
  const answer = await served.during(settle(bodyFor(fixture, 2, await offered(fixture))), 400);
  expect(answer.reason).toBeNull();
  await served.ends(answer.txId as string, 'CONFIRMED');
  expect(await fixture.attempts(answer.txId as string)).toHaveLength(1);
  expect(await fixture.tokensOf(fixture.seller)).toBe(1_001n);
});

test('what no block has taken has failed once it never can be, and is not made again', async () => {
  await served.serve();
  await fixture.solanaChain.client.call('drop', { count: 1_000 });
  // long enough that it is signed and sent by then
  const { settle } = served.settling(5_000);
  const body = bodyFor(fixture, 2, await offered(fixture));
  const pending = await settle(body);
  expect(pending).toMatchObject({ reason: 'settlement_pending', hash: expect.stringMatching(/^\w{64,88}$/) as string });
  const txId = pending.txId as string;
  await served.step(200);
  await served.ends(txId, 'FAILED');
  expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'expired', block_hash: null });
  const attempts = await fixture.attempts(txId);
  expect(attempts).toHaveLength(1);
  expect(attempts[0]?.impossible_proof).toMatchObject({ last_block_height: expect.any(Number) as number });
  expect(await settle(body)).toMatchObject({ reason: 'invalid_exact_svm_transaction_failed' });
  // nothing else was prepared, which would have been refused
  expect(await fixture.database.query('select attempt from refusals')).toEqual([]);
  // signed bytes exist: it is nobody's to be settled again
  expect(await fixture.database.query('select released_at from x402_settlements')).toEqual([{ released_at: null }]);
  expect(await charges()).toEqual([]);
  expect(await fixture.tokensOf(fixture.seller)).toBe(1n);
});

test('a payer with too many open payments has no more settled until one has ended', async () => {
  await served.serve();
  await fixture.solanaChain.client.call('drop', { count: 1_000 });
  const { settle } = served.settling(1_000, 1);
  const first = await settle(bodyFor(fixture, 2, await offered(fixture)));
  expect(first).toMatchObject({ reason: 'settlement_pending' });
  const refused = await settle(bodyFor(fixture, 2, await offered(fixture)));
  expect(refused).toMatchObject({ reason: 'unexpected_settle_error', hash: '' });
  expect(await fixture.database.query('select from x402_settlements')).toHaveLength(1);
  await served.step(200);
  await served.ends(first.txId as string, 'FAILED');
  expect(await settle(bodyFor(fixture, 2, await offered(fixture)))).toMatchObject({ reason: 'settlement_pending' });
});

test('a payer without the money by then has not paid, and the settler is charged for the failed transaction', async () => {
  await served.serve({
    chain: {
      broadcast: async (input) => {
        const { payer, solanaChain } = fixture;
        const all = await transferToken(payer.address, fixture.settler.address, 5_000_000n);
        const owned = await createAssociated(payer.address, fixture.settler.address);
        await solanaChain.send(await solanaChain.sign(payer.signer, [owned, all]));
        await fixture.mine();
        return fixture.onChain.broadcast(input);
      },
    },
  });
  const { settle } = served.settling(waitMs);
  const answer = await served.during(settle(bodyFor(fixture, 2, await offered(fixture))));
  expect(answer).toMatchObject({ reason: 'invalid_exact_svm_transaction_failed', amount: null });
  expect(await fixture.transaction(answer.txId as string)).toMatchObject({ status: 'FAILED', failure_code: 'reverted_on_chain' });
  expect(await charges()).toMatchObject([{ parent_tx_id: answer.txId, amount: '10001' }]);
  expect(await fixture.tokensOf(fixture.seller)).toBe(1n);
});

test('what has expired before it is prepared is not signed, and the payment is nobody’s', async () => {
  let isLate = false;
  await served.serve({
    chain: {
      prepareAttempt: async (input) => {
        if (!isLate) await fixture.mine(200);
        isLate = true;
        return fixture.onChain.prepareAttempt(input);
      },
    },
  });
  const { settle } = served.settling(waitMs);
  const body = bodyFor(fixture, 2, await offered(fixture));
  expect(await settle(body)).toMatchObject({ reason: 'invalid_exact_svm_transaction_failed', hash: '' });
  const [row] = await fixture.database.query<{ is_free: boolean }[]>(
    `select s.released_at is not null and t.signing_begun_at is null as is_free
       from x402_settlements s join transactions t using (tx_id) where t.failure_code = 'expired'`,
  );
  expect(row).toEqual({ is_free: true });
  expect(await settle(body)).toMatchObject({ reason: 'invalid_exact_svm_transaction_simulation_failed', txId: null });
});

test('who settles is told to payers: the primary settler', async () => {
  const { served: chains } = served.settling(waitMs);
  const { alice, settler, database, chain } = fixture;
  expect(presentSupported(await chains.all(alice.clientId))).toMatchObject({
    kinds: [],
    signers: { 'solana:*': [settler.address] },
  });
  await database.query('update settlers set is_primary = true');
  const kind = { scheme: 'exact', extra: { feePayer: settler.address } };
  expect(presentSupported(await served.settling(waitMs).served.all(alice.clientId))).toEqual({
    kinds: [
      { x402Version: 2, network: chain.caip2, ...kind },
      { x402Version: 1, network: 'solana', ...kind },
    ],
    ...{ extensions: [], signers: { 'solana:*': [settler.address] } },
  });
});

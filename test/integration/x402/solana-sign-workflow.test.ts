import { address } from '@solana/kit';
import { ChainRegistry } from '../../../src/chains/registry';
import type { JsonObject } from '../../../src/chains/types';
import { verifyLedger } from '../../../src/ledger/verify';
import { newId } from '../../../src/platform/ids';
import { transferWorkflowsOn } from '../../../src/transfers/start/workflows';
import { presentSettled } from '../../../src/x402/presenter';
import { acceptPayment } from '../../../src/x402/sign/accept';
import { presentPayment } from '../../../src/x402/sign/presenter';
import { parsePayment } from '../../../src/x402/sign/request';
import { findAuthorised } from '../../../src/x402/sign/stored';
import { acceptDependencies } from '../../ledger';
import { type Signed, transferToken } from '../../solana-chain';
import { bodyOf, type Holder, makeHolder, terms } from '../../unit/x402/solana/scene';
import { until } from '../transfers/served';
import { createSolanaFixture, ServedPayments, type SolanaFixture } from './solana-fixture';

/** Payments that a client authorises on Solana, run by the workflow of transfers; a settler pays the fee and sends them, or nobody does. */

jest.setTimeout(120_000);

const served = new ServedPayments(async () => {
  const made = await createSolanaFixture();
  await made.solanaChain.client.fundToken('USDC', made.alice.address, 5_000_000n);
  await made.mine(4);
  await made.follow();
  return made;
}, booksAgree);
let fixture: SolanaFixture;
beforeEach(() => {
  fixture = served.fixture;
});

async function booksAgree(): Promise<void> {
  await fixture.mine(4);
  await fixture.follow();
  expect(await held()).toEqual({ available: await fixture.tokensOf({ address: address(fixture.alice.address) }), locked: 0n });
  expect(await verifyLedger(fixture.database.manager)).toEqual([]);
}

const held = () => fixture.balance(fixture.alice, 'USDC');
const registry = () => new ChainRegistry([fixture.chain]);
const requirements = (version: 1 | 2, extra: JsonObject = {}): JsonObject => {
  const required = terms({ seller: fixture.seller.address, settler: fixture.settler }, version);
  return { ...required, extra: { ...(required.extra as JsonObject), ...extra } };
};

/** A payment of 1,000 atomic units of USDC, accepted and started. */
async function pay(version: 1 | 2 = 2, required = requirements(version)): Promise<string> {
  const { database, chain, alice, getFamily } = fixture;
  const [txId, clientId] = [newId(), alice.clientId];
  const asked = { txId, clientId, userId: newId(), requestId: newId(), idempotencyKey: null };
  const input = { x402Version: version, payer: alice.address, paymentRequirements: required };
  await acceptPayment(acceptDependencies(database, registry()), parsePayment({ registry: registry(), getFamily }, asked, input));
  await transferWorkflowsOn(served.client).start({
    txId,
    clientId,
    chain: chain.name,
    tokenSymbol: 'USDC',
    requestId: null,
    retryOf: null,
  });
  return txId;
}

/** As GET /x402/sign/{tx_id} shows it. */
async function shown(txId: string) {
  const { database, alice, getFamily } = fixture;
  const payment = await findAuthorised(database.manager, alice.clientId, txId);
  if (!payment) throw new Error('no payment');
  return presentPayment({ registry: registry(), getFamily }, payment);
}

async function signed(txId: string): Promise<JsonObject> {
  await until('signed', async () => {
    const { paymentPayload, failure } = await shown(txId);
    if (failure) throw new Error(`${failure.code}: ${failure.message}`);
    return paymentPayload !== null;
  });
  return (await shown(txId)).paymentPayload as JsonObject;
}

test.each([1, 2] as const)(
  'version %i: settled by our own settler, each side once, and the account pays no fee',
  async (version) => {
    await served.serve();
    const required = requirements(version, version === 2 ? { memo: 'order 7' } : {});
    const txId = await pay(version, required);
    const { payload } = (await signed(txId)) as { payload: JsonObject };
    expect(await held()).toEqual({ available: 4_999_000n, locked: 1_000n });
    expect(await fixture.transaction(txId)).toMatchObject({ status: 'SUBMITTED', tx_hash: null, fee_locked: '0' });
    const settled = await served.during(served.settling(60_000).settle(bodyOf(version, payload, required)));
    const answer = { success: true, payer: fixture.alice.address, amount: '1000' };
    expect(presentSettled(settled)).toMatchObject(answer);
    await served.ends(settled.txId as string, 'CONFIRMED');
    await served.ends(txId, 'CONFIRMED');
    expect(await fixture.transaction(txId)).toMatchObject({ tx_hash: settled.hash, fee: '0' });
    expect(await fixture.tokensOf(fixture.seller)).toBe(1_001n);
    expect(await held()).toEqual({ available: 4_999_000n, locked: 0n });
  },
);

/** Somebody else’s facilitator signs for the fee, and sends it. */
async function carryOut({ payload }: JsonObject, feePayer: Holder): Promise<Signed['id']> {
  const wire = Buffer.from((payload as JsonObject).transaction as string, 'base64');
  const { signBytes, createKeyPairFromPrivateKeyBytes } = await import('@solana/kit');
  const { privateKey } = await createKeyPairFromPrivateKeyBytes(feePayer.secret);
  wire.set(await signBytes(privateKey, wire.subarray(129)), 1);
  return fixture.solanaChain.send({ wire: wire.toString('base64') as Signed['wire'] });
}

/** Signed, for a facilitator that is not ours. */
async function payBy(feePayer: Holder): Promise<{ txId: string; payload: JsonObject }> {
  // the chain is asked about final blocks
  await fixture.mine(4);
  const txId = await pay(2, requirements(2, { feePayer: feePayer.address }));
  return { txId, payload: await signed(txId) };
}

test('sent by somebody else: found by its message, under an id that nobody knew', async () => {
  await served.serve();
  const outsider = await makeHolder(fixture.solanaChain);
  const { txId, payload } = await payBy(outsider);
  const id = await carryOut(payload, outsider);
  await served.ends(txId, 'CONFIRMED');
  expect(await fixture.transaction(txId)).toMatchObject({ tx_hash: id, fee: '0' });
  const [open] = (await served.operations.show(txId)).attempts;
  expect(open).toMatchObject({ tx_hash: id, digest: expect.stringMatching(/^0x[0-9a-f]{64}$/) as string });
});

test('unknown to the follower, it is found among the blocks of its life before anything is unlocked', async () => {
  await served.serve();
  const outsider = await makeHolder(fixture.solanaChain);
  const { txId, payload } = await payBy(outsider);
  const id = await carryOut(payload, outsider);
  await fixture.mine(200);
  expect(await fixture.onChain.observe({ txId })).toMatchObject({ state: 'confirmed', hash: id });
  expect((await held()).locked).toBe(1_000n);
  await served.ends(txId, 'CONFIRMED');
});

test('nobody sends it: unlocked once finalized blocks show that nobody can, and not by the clock', async () => {
  await served.serve();
  const outsider = await makeHolder(fixture.solanaChain);
  const { txId, payload } = await payBy(outsider);
  const [{ expiry }] = (await fixture.attempts(txId)) as unknown as [{ expiry: { slot: number } }];
  // blocks of its life, up to those that could still take it
  await fixture.mine(140);
  expect(await fixture.onChain.observe({ txId })).toMatchObject({ state: 'absent' });
  expect((await held()).locked).toBe(1_000n);
  await fixture.mine(60);
  await served.ends(txId, 'FAILED');
  expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'expired', tx_hash: null, block_hash: null });
  const [attempt] = await fixture.attempts(txId);
  expect(attempt?.impossible_proof).toMatchObject({ start_slot: expiry.slot });
  expect(await held()).toEqual({ available: 5_000_000n, locked: 0n });
  // too late for whoever still has it
  await carryOut(payload, outsider).catch(() => undefined);
  await fixture.mine(4);
  expect(await fixture.tokensOf(fixture.seller)).toBe(1n);
});

test('failed in its block it is over: unlocked, and whoever has sent it has paid the fee', async () => {
  await served.serve();
  const outsider = await makeHolder(fixture.solanaChain);
  const { txId, payload } = await payBy(outsider);
  const frozen = fixture.solanaChain;
  const { value } = await frozen.rpc
    .getTokenAccountsByOwner(
      fixture.seller.address,
      { mint: address(fixture.chain.tokens.find(({ symbol }) => symbol === 'USDC')?.contract as string) },
      { encoding: 'base64' },
    )
    .send();
  const account = value[0]!;
  const data = Buffer.from(account.account.data[0], 'base64');
  // AccountState: frozen
  data[108] = 2;
  await frozen.client.call('account', {
    ...{ address: account.pubkey, lamports: String(account.account.lamports), data: data.toString('base64') },
    owner: account.account.owner,
  });
  const id = await carryOut(payload, outsider);
  await served.ends(txId, 'FAILED');
  expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'reverted_on_chain', tx_hash: id, fee: '0' });
  expect(await held()).toEqual({ available: 5_000_000n, locked: 0n });
});

test('a recipient without an account for the token is paid nothing, and nothing is signed', async () => {
  await served.serve();
  const newcomer = await makeHolder(fixture.solanaChain);
  const txId = await pay(2, { ...requirements(2), payTo: newcomer.address });
  await served.ends(txId, 'FAILED');
  expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'would_revert' });
  expect(await fixture.attempts(txId)).toEqual([]);
});

test('many at once for one recipient are as many messages', async () => {
  await served.serve();
  const txIds = await Promise.all(Array.from({ length: 5 }, () => pay(1)));
  const payloads = await Promise.all(txIds.map(signed));
  expect(new Set(payloads.map(({ payload }) => (payload as JsonObject).transaction)).size).toBe(5);
  await fixture.mine(200);
  for (const txId of txIds) await served.ends(txId, 'FAILED');
  // meanwhile the account pays others as before
  await fixture.solanaChain.send(
    await fixture.solanaChain.sign(fixture.payer.signer, [
      await transferToken(fixture.payer.address, fixture.seller.address, 5n),
    ]),
  );
});

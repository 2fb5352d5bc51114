import { randomBytes } from 'node:crypto';
import { slice } from 'viem';
import { contractArtifacts } from '../../../dev/contracts';
import { encodeSettlement } from '../../../src/chains/evm/payments/calldata';
import { permit2Address, uptoProxyAddress } from '../../../src/chains/evm/payments/contracts';
import type { Sponsoring } from '../../../src/chains/payments';
import { ChainRegistry } from '../../../src/chains/registry';
import type { Hex, JsonObject, TokenDefinition } from '../../../src/chains/types';
import { GatewayError } from '../../../src/platform/errors';
import { newId } from '../../../src/platform/ids';
import { Alarms } from '../../../src/platform/alarms';
import { correctReorged } from '../../../src/transfers/confirm/reconcile-reorg';
import { observationSignaller, transferWorkflowsOn } from '../../../src/transfers/start/workflows';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { acceptPayment } from '../../../src/x402/sign/accept';
import { presentPayment } from '../../../src/x402/sign/presenter';
import { parsePayment } from '../../../src/x402/sign/request';
import { findAuthorised } from '../../../src/x402/sign/stored';
import { buildUser, randomAddress } from '../../factories';
import { acceptDependencies } from '../../ledger';
import { createFollowFixture, type FollowFixture } from '../following/fixture';
import { booksAgree, ServedChain, until } from '../transfers/served';

/** Payments that a client authorises, run by the workflow of transfers; somebody else sends them, or nobody does. */

jest.setTimeout(120_000);

const domain = { name: 'USD Coin', version: '2' };
async function createFixture(): Promise<FollowFixture> {
  const fixture = await createFollowFixture({ stuckAfterMs: 500 });
  Object.assign(usdcOf(fixture), { takesAuthorisations: true, domain } satisfies Partial<TokenDefinition>);
  await fixture.mint(fixture.alice, 5_000_000n);
  await fixture.mine(4);
  await fixture.follow();
  return fixture;
}
const usdcOf = ({ chain }: Pick<FollowFixture, 'chain'>) =>
  chain.tokens.find(({ symbol }) => symbol === 'USDC') as TokenDefinition;

let payTo: Hex;
/** False where a test leaves the ledger for an operator to correct. */
let areBooksCompared = true;
const served: ServedChain<FollowFixture> = new ServedChain<FollowFixture>(createFixture, () =>
  areBooksCompared ? booksAgree(served.fixture) : Promise.resolve(),
);
beforeEach(() => {
  areBooksCompared = true;
  payTo = randomAddress() as Hex;
});

const record = (txId: string, name: string) => served.record(transferWorkflowId(txId), name);
const registry = () => new ChainRegistry([served.fixture.chain]);

/** A payment of 1 USDC that can be carried out for so many seconds, accepted and started. */
async function pay(
  seconds: number,
  extra: JsonObject = domain,
  { scheme = 'exact', extensions = null }: { scheme?: string; extensions?: JsonObject | null } = {},
): Promise<string> {
  const { database, chain, alice, getFamily } = served.fixture;
  const [txId, clientId] = [newId(), alice.clientId];
  const asked = { txId, clientId, userId: newId(), requestId: newId(), idempotencyKey: null };
  const paymentRequirements = {
    ...{ scheme, network: chain.caip2, asset: usdcOf(served.fixture).contract, amount: '1000000', payTo, extra },
    maxTimeoutSeconds: seconds,
  };
  const input = { x402Version: 2 as const, payer: alice.address, paymentRequirements, extensions };
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
  const { database, alice, getFamily } = served.fixture;
  const payment = await findAuthorised(database.manager, alice.clientId, txId);
  if (!payment) throw new Error('no payment');
  return presentPayment({ registry: registry(), getFamily }, payment);
}

async function signed(txId: string): Promise<JsonObject> {
  await until('signed', async () => (await shown(txId)).paymentPayload !== null);
  return ((await shown(txId)).paymentPayload as JsonObject).payload as JsonObject;
}

/** Somebody sends it to the chain. */
async function carryOut({ signature, authorization }: JsonObject, gas = 300_000n): Promise<void> {
  const { from, to, value, validAfter, validBefore, nonce } = authorization as Record<string, string>;
  const call = encodeSettlement(
    {
      ...{
        method: 'eip3009',
        payer: from as string,
        payTo: to as string,
        authorised: BigInt(value as string),
        nonce: nonce as string,
      },
      ...{ validAfter: BigInt(validAfter as string), validBefore: BigInt(validBefore as string), signature: signature as Hex },
      ...{ facilitator: null, sponsoring: { type: 'none' }, token: usdcOf(served.fixture) },
    },
    BigInt(value as string),
  );
  await served.fixture.outside.sendTransaction({ ...call, chain: null, gas });
}

interface UptoPayload {
  payload: { signature: Hex; permit2Authorization: Record<string, JsonObject & string> };
  extensions: { eip2612GasSponsoring: { info: { amount?: string; deadline: string; signature: Hex } } };
}

/** The call by which its facilitator takes so much of a highest amount, with the permit if one was signed. */
async function takeUpto(txId: string, taken: bigint): Promise<{ to: Hex; data: Hex }> {
  const { payload, extensions } = (await shown(txId)).paymentPayload as unknown as UptoPayload;
  const { from, permitted, nonce, deadline, witness } = payload.permit2Authorization;
  return encodeSettlement(
    {
      ...{ method: 'permit2_upto', payer: from as string, payTo: witness?.to as string, nonce: nonce as string },
      ...{ authorised: BigInt(permitted?.amount as string), validAfter: BigInt(witness?.validAfter as string) },
      ...{ validBefore: BigInt(deadline as string), signature: payload.signature, facilitator: witness?.facilitator as string },
      ...{ sponsoring: toSponsoring(extensions), token: usdcOf(served.fixture) },
    },
    taken,
  );
}

function toSponsoring({ eip2612GasSponsoring: { info } }: UptoPayload['extensions']): Sponsoring {
  const { amount, deadline, signature } = info;
  if (amount === undefined) return { type: 'none' };
  const [r, s] = [slice(signature, 0, 32), slice(signature, 32, 64)];
  return { type: 'permit', value: BigInt(amount), deadline: BigInt(deadline), r, s, v: Number(slice(signature, 64)) };
}

/** Mines and follows, and signals the workflows, until it is in this state. */
const ends = (txId: string, as: string) =>
  until(`${txId} is ${as}`, async () => {
    await served.fixture.mine();
    await served.fixture.follow({ signalTransfer: observationSignaller(served.client) });
    return (await served.status(txId)) === as;
  });

const held = () => served.fixture.balance(served.fixture.alice, 'USDC');

test('somebody carries it out: what is held is paid, and whoever has sent it pays the fee', async () => {
  await served.serve();
  const txId = await pay(600);
  const payload = await signed(txId);
  expect(await held()).toEqual({ available: 4_000_000n, locked: 1_000_000n });
  expect(await served.fixture.transaction(txId)).toMatchObject({ status: 'SUBMITTED', tx_hash: null, fee_locked: '0' });
  // an operator is shown what was signed, and not as a transaction of the chain
  const [open] = (await served.operations.show(txId)).attempts;
  expect(open).toMatchObject({ tx_hash: null, digest: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
  await carryOut(payload);
  await ends(txId, 'CONFIRMED');
  const [ended] = (await served.operations.show(txId)).attempts;
  expect(ended).toMatchObject({ tx_hash: (await served.fixture.transaction(txId)).tx_hash, digest: open?.digest });
  expect(await held()).toEqual({ available: 4_000_000n, locked: 0n });
  const { tx_hash: hash, fee } = await served.fixture.transaction(txId);
  const receipt = await served.fixture.anvil.client.getTransactionReceipt({ hash: hash as Hex });
  expect({ fee, status: receipt.status }).toEqual({ fee: '0', status: 'success' });
  await record(txId, 'payment-confirmed');
});

test('nobody carries it out: unlocked once a later block is final', async () => {
  await served.serve();
  const txId = await pay(20);
  await signed(txId);
  await served.fixture.anvil.client.increaseTime({ seconds: 60 });
  await served.fixture.mine();
  // not final yet
  const { state } = await served.fixture.onChain.observe({ txId });
  expect(state).toBe('absent');
  expect((await held()).locked).toBe(1_000_000n);
  await ends(txId, 'FAILED');
  expect(await served.fixture.transaction(txId)).toMatchObject({ failure_code: 'expired', tx_hash: null, block_hash: null });
  const [attempt] = await served.fixture.attempts(txId);
  expect(attempt).toMatchObject({ impossible_proof: { block_hash: expect.stringMatching(/^0x/) } });
  expect(await held()).toEqual({ available: 5_000_000n, locked: 0n });
  await record(txId, 'payment-failed-expired');
});

test('carried out by way of a transaction that the follower has not named: found by its nonce', async () => {
  await served.serve();
  const txId = await pay(600);
  const payload = await signed(txId);
  await carryOut(payload);
  await served.fixture.mine(2);
  const seen = await served.fixture.onChain.observe({ txId });
  expect(seen).toMatchObject({ state: expect.stringMatching(/included|confirmed/), hash: expect.stringMatching(/^0x/) });
  await ends(txId, 'CONFIRMED');
});

test('taken for 0, it is used up: unlocked once that is final, long before its time is over, and the account pays again', async () => {
  const { anvil, outside } = served.fixture;
  const { TestPermit2, OddUptoProxy } = await contractArtifacts();
  await anvil.client.setCode({ address: permit2Address, bytecode: TestPermit2.deployedBytecode });
  await anvil.client.setCode({ address: uptoProxyAddress, bytecode: OddUptoProxy.deployedBytecode });
  await served.serve();
  const upto = {
    scheme: 'upto',
    extra: { ...domain, facilitatorAddress: outside.account.address },
    extensions: { eip2612GasSponsoring: { info: {} } },
  };
  const txId = await pay(600, upto.extra, upto);
  await signed(txId);
  await outside.sendTransaction({ ...(await takeUpto(txId, 0n)), chain: null, gas: 500_000n });
  await served.fixture.mine();
  await served.fixture.follow();
  expect(await served.fixture.onChain.observe({ txId })).toMatchObject({ state: 'absent' });
  expect((await held()).locked).toBe(1_000_000n);
  await ends(txId, 'FAILED');
  expect(await served.fixture.transaction(txId)).toMatchObject({ failure_code: 'expired', tx_hash: null, block_hash: null });
  const [attempt] = await served.fixture.attempts(txId);
  expect(attempt).toMatchObject({ impossible_proof: { used_up_by: expect.stringMatching(/^0x/), taken: '0' } });
  expect(await held()).toEqual({ available: 5_000_000n, locked: 0n });

  const next = await pay(600, upto.extra, upto);
  await signed(next);
  await outside.sendTransaction({ ...(await takeUpto(next, 400_000n)), chain: null, gas: 500_000n });
  await ends(next, 'CONFIRMED');
  expect(await held()).toEqual({ available: 4_600_000n, locked: 0n });
});

test('a transaction that was reverted leaves it open, and another one carries it out', async () => {
  await served.serve();
  const txId = await pay(600);
  const payload = await signed(txId);
  const wrong = { ...payload, signature: `0x${randomBytes(64).toString('hex')}1b` };
  await carryOut(wrong);
  await served.fixture.mine(2);
  await served.fixture.follow();
  expect(await served.fixture.onChain.observe({ txId })).toMatchObject({ state: 'absent' });
  await carryOut(payload);
  await ends(txId, 'CONFIRMED');
});

describe('confirmed, and its block is reorganised away', () => {
  /** Confirmed, then taken back with everything since; nothing is sent again by the gateway. */
  async function takenBack(seconds: number): Promise<{ txId: string; payload: JsonObject }> {
    await served.serve();
    const { anvil, mine, chain } = served.fixture;
    const txId = await pay(seconds);
    const payload = await signed(txId);
    const snapshot = await anvil.client.snapshot();
    await carryOut(payload);
    await ends(txId, 'CONFIRMED');
    await anvil.client.revert({ id: snapshot });
    // other blocks at the same heights
    await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_234_567_890n });
    await mine(chain.confirmations + 8);
    return { txId, payload };
  }
  const follow = (alerts: object[] = []) => {
    const { options, client, follow: once } = served.fixture;
    const logger = Object.assign(Object.create(options.logger) as typeof options.logger, {
      child: () => logger,
      error: (alert: object) => void alerts.push(alert),
    });
    const onConfirmedReorged = (it: string) =>
      correctReorged(
        { ...options, logger, alarms: new Alarms(logger), client, onConfirmedReorged: options.onConfirmedReorged },
        { txId: it },
      );
    return once({ logger, onConfirmedReorged });
  };

  test('carried out again by another transaction, it stands there', async () => {
    const { txId, payload } = await takenBack(600);
    const before = await served.fixture.transaction(txId);
    await follow();
    const [attempt] = await served.fixture.attempts(txId);
    expect(attempt).toMatchObject({ included_id: null, block_hash: null });
    await carryOut(payload, 250_000n);
    await served.fixture.mine(2);
    await follow();
    await correctReorged({ ...served.fixture.options, client: served.fixture.client }, { txId });
    const after = await served.fixture.transaction(txId);
    expect(after.tx_hash).not.toBe(before.tx_hash);
    expect(after).toMatchObject({ status: 'CONFIRMED', block_hash: expect.stringMatching(/^0x/) });
    expect(after.block_hash).not.toBe(before.block_hash);
  });

  test('expired meanwhile, its accounts are frozen: the money has not left', async () => {
    const { txId } = await takenBack(30);
    await served.fixture.anvil.client.increaseTime({ seconds: 120 });
    await served.fixture.mine(served.fixture.chain.finalityDepth + 2);
    const alerts: object[] = [];
    await follow(alerts);
    await correctReorged({ ...served.fixture.options, client: served.fixture.client }, { txId });
    const rows = await served.fixture.database.query<{ frozen_reason: string | null }[]>(
      `select frozen_reason from ledger_accounts where account_id = $1 and symbol = 'USDC'`,
      [served.fixture.alice.accountId],
    );
    expect(rows).toEqual([{ frozen_reason: expect.stringContaining(txId) }]);
    areBooksCompared = false;
  });
});

test('not signed in its time: its end is found without an operator', async () => {
  await served.serve({
    sign: () => {
      throw new GatewayError('signers_unavailable', 'two nodes are down');
    },
  });
  const txId = await pay(10);
  await until('refused', async () => (await served.fixture.attempts(txId)).length > 0);
  await new Promise((resolve) => setTimeout(resolve, 9_000));
  await served.fixture.anvil.client.increaseTime({ seconds: 60 });
  await ends(txId, 'FAILED');
  expect(await served.fixture.transaction(txId)).toMatchObject({ failure_code: 'expired', tx_hash: null });
  await record(txId, 'payment-failed-not-signed');
});

test('listed before it is handed out: nobody gets the signature, and it ends with its time', async () => {
  const { fixture } = served;
  const { userId } = await buildUser(fixture.database, fixture.alice);
  const list = () =>
    fixture.database.query(
      `insert into security_factors (factor_id, client_id, factor_type, chain, address, address_key, added_by)
       values (gen_random_uuid(), $1, 'BLACKLIST', $2, $3, $4, $5)`,
      [fixture.alice.clientId, fixture.chain.name, payTo, payTo.toLowerCase(), userId],
    );
  await served.serve({
    chain: {
      broadcast: async (input) => {
        await list();
        return fixture.onChain.broadcast(input);
      },
    },
  });
  const txId = await pay(20);
  await until('abandoned', async () => (await fixture.transaction(txId)).cancellation_reason === 'address_blacklisted');
  expect(await shown(txId)).toMatchObject({ paymentPayload: null, header: null });
  await fixture.anvil.client.increaseTime({ seconds: 60 });
  await ends(txId, 'FAILED');
  expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'address_blacklisted' });
});

test('what the chain would revert is not signed', async () => {
  await served.serve();
  const other = { name: 'Other', version: '1' };
  Object.assign(usdcOf(served.fixture), { domain: other });
  const txId = await pay(600, other);
  await until('ended', async () => (await served.status(txId)) === 'FAILED');
  expect(await served.fixture.transaction(txId)).toMatchObject({ failure_code: 'would_revert', signing_begun_at: null });
  expect(await held()).toEqual({ available: 5_000_000n, locked: 0n });
});

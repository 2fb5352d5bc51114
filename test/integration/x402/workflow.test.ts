import { ApplicationFailure } from '@temporalio/common';
import { contractArtifacts } from '../../../dev/contracts';
import { multicall3Address } from '../../../src/chains/evm/payments/contracts';
import { statusQuery } from '../../../src/messages/progress';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { placeFactory, type UncreatedWallet, walletFactory, walletOf } from '../../wallet-factory';
import { until } from '../transfers/served';
import {
  chargesIn,
  createSettlementFixture,
  ServedSettlements,
  settlerBooksAgree,
  tokensOf,
  type SettlementFixture,
} from './workflow-fixture';

/** Settlements run by the workflow of transfers: what a payer has signed, and the end of its time. */

jest.setTimeout(120_000);

/** Long enough that nothing is replaced unless a test requires it. */
const patientMs = 60_000;
const hastyMs = 500;
let stuckAfterMs = patientMs;
const served = new ServedSettlements(
  () => createSettlementFixture({ stuckAfterMs }),
  () => settlerBooksAgree(fixture),
);
let fixture: SettlementFixture;
beforeEach(() => {
  fixture = served.fixture;
});

/** A longer time than any test takes. */
const longSeconds = 600;
/** Enough to sign and send, and then to be waited for. */
const shortSeconds = 20;
/** Enough for all replacements of what is replaced hastily. */
const replacedSeconds = 30;

const record = (txId: string, name: string) => served.record(transferWorkflowId(txId), name);
const stepOf = async (txId: string) => (await served.client.workflow.getHandle(transferWorkflowId(txId)).query(statusQuery)).step;

const absent = { state: 'absent', hash: null, blockNumber: null, confirmations: 0 } as const;

const charges = () => chargesIn(fixture);

const released = async (txId: string) => {
  const [row] = await fixture.database.query<{ released: boolean }[]>(
    'select released_at is not null as released from x402_settlements where tx_id = $1',
    [txId],
  );
  return row?.released;
};

test('a payment is executed once, by the settler, which is charged for it', async () => {
  await served.serve();
  const txId = await served.settle(longSeconds);
  await served.ends(txId, 'CONFIRMED');
  expect([await tokensOf(fixture, fixture.payTo), await tokensOf(fixture, fixture.payer.address)]).toEqual([
    1_000_000n,
    4_000_000n,
  ]);
  const { fee, from_address: from, sender_address: sender } = await fixture.transaction(txId);
  expect([from, sender]).toEqual([fixture.payer.address, fixture.settler.address]);
  expect(await charges()).toEqual([{ parent_tx_id: txId, amount: fee, status: 'CONFIRMED' }]);
  await record(txId, 'settlement-confirmed');
});

describe('a payer whose wallet does not exist yet', () => {
  let wallet: UncreatedWallet;
  beforeEach(async () => {
    const { anvil, chain, database, payer, mint, mine, follow } = fixture;
    const { TestMulticall3 } = await contractArtifacts();
    await anvil.client.setCode({ address: multicall3Address, bytecode: TestMulticall3.deployedBytecode });
    await placeFactory(anvil.client);
    wallet = await walletOf(payer.address, 'of the payer');
    await mint(wallet, 2_000_000n);
    await mine(4);
    await follow();
    await database.query('update x402_policies set wallet_factories = $2 where chain = $1', [chain.name, [walletFactory]]);
  });
  const hasCode = async () => (await fixture.anvil.client.getCode({ address: wallet.address })) !== undefined;
  const sponsoringOf = async (txId: string) =>
    (await fixture.database.query<unknown[]>('select sponsoring from x402_settlements where tx_id = $1', [txId]))[0];

  test('pays by the transaction that creates it, and the settler is charged for both', async () => {
    await served.serve();
    const txId = await served.settle(longSeconds, { wallet });
    expect(await sponsoringOf(txId)).toEqual({ sponsoring: 'deployment' });
    await served.ends(txId, 'CONFIRMED');
    expect([await tokensOf(fixture, fixture.payTo), await tokensOf(fixture, wallet.address)]).toEqual([1_000_000n, 1_000_000n]);
    expect(await hasCode()).toBe(true);
    const { fee, from_address: from } = await fixture.transaction(txId);
    expect(from).toBe(wallet.address);
    expect(await charges()).toEqual([{ parent_tx_id: txId, amount: fee, status: 'CONFIRMED' }]);
    // the next one finds it there, although it brings the call as well
    const second = await served.settle(longSeconds, { wallet });
    await served.ends(second, 'CONFIRMED');
    expect(await tokensOf(fixture, fixture.payTo)).toBe(2_000_000n);
  });

  test('is not created by a factory that the client may not use any more: nothing is signed, and the payment is free again', async () => {
    const txId = await fixture.accept(longSeconds, { wallet });
    await fixture.database.query(`update x402_policies set wallet_factories = '{}'`);
    await served.serve();
    await served.begin(txId);
    await until('ended', async () => (await served.status(txId)) === 'FAILED');
    expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'business_error', signing_begun_at: null });
    expect([await released(txId), await hasCode()]).toEqual([true, false]);
  });
});

test('what a node refuses for now is sent again without an operator', async () => {
  let refused = 0;
  await served.serve({
    chain: {
      broadcast: (input) => {
        refused += 1;
        return refused > 1
          ? fixture.onChain.broadcast(input)
          : Promise.resolve({ outcome: 'rejected', reason: 'the pool is full' });
      },
      // it asks the chain, and sends again what no node knows
      observe: (input) => (refused > 1 ? fixture.onChain.observe(input) : Promise.resolve(absent)),
    },
  });
  const txId = await served.settle(longSeconds);
  await until('sent again', () => Promise.resolve(refused > 1));
  await served.ends(txId, 'CONFIRMED');
  await record(txId, 'settlement-confirmed-refused-first');
});

test('with too little time left nothing is signed, and the payment is free again', async () => {
  await served.serve();
  const txId = await served.settle(5);
  await until('ended', async () => (await served.status(txId)) === 'FAILED');
  expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'expired', signing_begun_at: null });
  expect(await released(txId)).toBe(true);
  await record(txId, 'settlement-failed-too-late');
});

describe('what is not included in its time is cancelled, so that the nonce is used up', () => {
  async function isCancelled(txId: string, as: string): Promise<void> {
    await served.ends(txId, 'FAILED');
    expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'expired', cancellation_reason: 'expired' });
    expect(await tokensOf(fixture, fixture.payTo)).toBe(0n);
    // signed bytes exist
    expect(await released(txId)).toBe(false);
    expect(await charges()).toMatchObject([{ parent_tx_id: txId }]);
    await record(txId, as);
  }
  /** Its cancellation is in the pool, in place of what was sent before. */
  const isAbandoning = (txId: string) =>
    until('abandoned', async () =>
      (await fixture.attempts(txId)).some((attempt) => attempt.kind === 'cancellation' && attempt.broadcast_at !== null),
    );

  test('while it waits for the chain', async () => {
    await served.serve();
    const txId = await served.settle(shortSeconds);
    await isAbandoning(txId);
    await isCancelled(txId, 'settlement-failed-not-included');
  });

  test('before it was signed', async () => {
    await served.serve({
      sign: ({ kind }) => {
        if (kind === 'settlement') throw ApplicationFailure.create({ type: 'signers_unavailable', message: 'down' });
      },
    });
    const txId = await served.settle(shortSeconds);
    await isAbandoning(txId);
    await isCancelled(txId, 'settlement-failed-not-signed');
  });

  describe('and it is parked', () => {
    beforeAll(() => (stuckAfterMs = hastyMs));
    afterAll(() => (stuckAfterMs = patientMs));

    test('for it was not included after all replacements', async () => {
      await served.serve();
      const txId = await served.settle(replacedSeconds);
      await until('parked', async () => (await stepOf(txId)) === 'park');
      await isAbandoning(txId);
      await isCancelled(txId, 'settlement-failed-parked');
    });
  });
});

import type { Hex } from 'viem';
import { contractArtifacts, type TestContract } from '../../../dev/contracts';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import { newId } from '../../../src/platform/ids';
import { observationSignaller } from '../../../src/transfers/start/workflows';
import { correctReorged } from '../../../src/transfers/confirm/reconcile-reorg';
import type { Settled } from '../../../src/x402/settlement/service';
import { until } from '../transfers/served';
import { createSettlementService } from './settlement-service';
import {
  chargesIn,
  createSettlementFixture,
  ServedSettlements,
  settlerBooksAgree,
  tokensOf,
  type SettlementFixture,
} from './workflow-fixture';

/** Settlements whose transaction succeeds and does not bring the seller the whole payment, from the request to the end. */

jest.setTimeout(120_000);

const served = new ServedSettlements(
  () => createSettlementFixture({ stuckAfterMs: 60_000 }),
  () => settlerBooksAgree(fixture),
);
let fixture: SettlementFixture;
beforeEach(() => {
  fixture = served.fixture;
});

const paid = 1_000_000n;

/** From now on the token is another contract, with the same balances. */
async function becomes(contract: TestContract): Promise<void> {
  const { deployedBytecode: bytecode } = (await contractArtifacts())[contract];
  await fixture.anvil.client.setCode({ address: fixture.usdc.contract as Hex, bytecode });
}

/** A seller who repeats one request. Every answer is kept. */
async function createSeller() {
  const service = createSettlementService(fixture, served.client);
  const body = await fixture.signPayment(600);
  const { clientId } = fixture.alice;
  const askedBy = { clientId, userId: newId(), requestId: newId() };
  const answers: Settled[] = [];
  const ask = async (): Promise<Settled> => {
    const answer = await service.settle(askedBy, body, { ms: 0 }, { warn: () => undefined });
    answers.push(answer);
    return answer;
  };
  return { ask, answers };
}
type Seller = Awaited<ReturnType<typeof createSeller>>;

/** What it was answered, in the order of time, and each answer once as long as it stays the same. */
const reasonsOf = ({ answers }: Seller) =>
  answers.map(({ reason }) => reason).filter((reason, index, all) => index === 0 || reason !== all[index - 1]);

const follow = () => {
  const { options, client } = fixture;
  const onConfirmedReorged = (txId: string) => correctReorged({ ...options, client }, { txId });
  return fixture.follow({ signalTransfer: observationSignaller(served.client), onConfirmedReorged });
};

async function isIncluded({ ask }: Seller, txId: string): Promise<Hex> {
  const find = async () => (await fixture.attempts(txId)).find(({ block_hash: hash }) => hash !== null);
  await until('included', async () => {
    await fixture.mine();
    await follow();
    await ask();
    return (await find()) !== undefined;
  });
  return (await find())?.block_hash as Hex;
}

async function ends({ ask }: Seller, txId: string, as: string): Promise<void> {
  await until(as, async () => {
    await fixture.mine();
    await follow();
    await ask();
    return (await served.status(txId)) === as;
  });
  await ask();
}

/** The payers whose failed payments count. */
const countedPayers = () => fixture.database.query<unknown[]>('select payer from x402_failures');

const mismatch = 'invalid_exact_evm_transfer_event_mismatch';

async function expectUnpaid(seller: Seller, txId: string): Promise<void> {
  const { chain } = fixture;
  const row = await fixture.transaction(txId);
  expect(row).toMatchObject({ status: 'FAILED', failure_code: 'transfer_not_observed', block_number: expect.anything() });
  const head = await fixture.anvil.client.getBlockNumber();
  expect(Number(head) - Number(row.block_number) + 1).toBeGreaterThanOrEqual(chain.finalityDepth);
  expect(reasonsOf(seller)).toEqual(['settlement_pending', mismatch]);
  expect(await seller.ask()).toMatchObject({ reason: mismatch, hash: row.tx_hash, txId, amount: null });
  // signed bytes were executed: nothing else may use the payment
  expect(await fixture.database.query('select released_at from x402_settlements')).toEqual([{ released_at: null }]);
  expect(await chargesIn(fixture)).toEqual([{ parent_tx_id: txId, amount: row.fee, status: 'CONFIRMED' }]);
}

test.each([
  { contract: 'KeepingUSDC', what: 'keeps a part', received: (paid * 99n) / 100n, event: (paid * 99n) / 100n },
  { contract: 'SilentUSDC', what: 'moves nothing', received: 0n, event: null },
] as const)('by a token that $what: pending until it is final, then failed', async ({ contract, received, event }) => {
  await served.serve();
  await becomes(contract);
  const seller = await createSeller();
  const txId = String((await seller.ask()).txId);
  await isIncluded(seller, txId);
  const [attempt] = await fixture.attempts(txId);
  expect(attempt).toMatchObject({ success: true, received: event === null ? null : String(event) });
  expect(await countedPayers()).toEqual([{ payer: fixture.payer.address }]);
  await fixture.mine(fixture.chain.confirmations);
  await follow();
  expect(await seller.ask()).toMatchObject({ reason: 'settlement_pending', hash: attempt?.tx_hash });

  await ends(seller, txId, 'FAILED');
  await expectUnpaid(seller, txId);
  expect(await tokensOf(fixture, fixture.payTo)).toBe(received);
  if (contract === 'KeepingUSDC') await served.record(transferWorkflowId(txId), 'settlement-failed-not-paid');
});

describe('reorganised before it is final', () => {
  /**
   * Its block is taken back, and what the token was before `snapshot` comes back with it. `isKept`: the pools of the nodes still have it;
   * else the gateway sends it again.
   */
  async function reorganise(seller: Seller, txId: string, snapshot: Hex, { isKept = false } = {}): Promise<void> {
    const { anvil, chain } = fixture;
    const before = await isIncluded(seller, txId);
    await fixture.mine(chain.confirmations - 1);
    await follow();
    await anvil.client.revert({ id: snapshot });
    await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_234_567_890n });
    await fixture.mine(chain.confirmations + 1);
    await follow();
    const [attempt] = await fixture.attempts(txId);
    if (isKept) await anvil.client.sendRawTransaction({ serializedTransaction: attempt?.signed as Hex });
    expect(await isIncluded(seller, txId)).not.toBe(before);
  }

  test('and not paid in its new block either: failed, and charged what it has cost there', async () => {
    await served.serve();
    await becomes('KeepingUSDC');
    const seller = await createSeller();
    const snapshot = await fixture.anvil.client.snapshot();
    const txId = String((await seller.ask()).txId);
    await reorganise(seller, txId, snapshot);
    await ends(seller, txId, 'FAILED');
    await expectUnpaid(seller, txId);
    await served.record(transferWorkflowId(txId), 'settlement-failed-not-paid-reorganised');
  });

  test('and paid in its new block: confirmed', async () => {
    await served.serve();
    const seller = await createSeller();
    const snapshot = await fixture.anvil.client.snapshot();
    await becomes('KeepingUSDC');
    const txId = String((await seller.ask()).txId);
    await reorganise(seller, txId, snapshot, { isKept: true });
    await ends(seller, txId, 'CONFIRMED');
    expect(reasonsOf(seller)).toEqual(['settlement_pending', null]);
    expect(await countedPayers()).toEqual([]);
    expect(await tokensOf(fixture, fixture.payTo)).toBe(paid);
    const { fee } = await fixture.transaction(txId);
    expect(await chargesIn(fixture)).toEqual([{ parent_tx_id: txId, amount: fee, status: 'CONFIRMED' }]);
  });
});

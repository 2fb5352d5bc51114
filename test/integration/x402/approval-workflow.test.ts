import { type Hex, keccak256 } from 'viem';
import type { ChainClient } from '../../../src/chains/chain-client';
import type { Sponsoring } from '../../../src/chains/payments';
import { ChainRegistry } from '../../../src/chains/registry';
import { verifyLedger } from '../../../src/ledger/verify';
import { transferWorkflowId } from '../../../src/messages/workflow-ids';
import type { OutboxMessage } from '../../../src/outbox/outbox';
import { GatewayError } from '../../../src/platform/errors';
import { TransactionEntity } from '../../../src/transactions/entity';
import { toAttemptIntent } from '../../../src/transactions/intent';
import { prepareAttempt } from '../../../src/transfers/sign/prepare';
import { observationSignaller } from '../../../src/transfers/start/workflows';
import { checkGasBudget } from '../../../src/x402/settlement/gas-budget';
import { createTestLedger } from '../../ledger';
import { refuseAttempt } from '../../refusals';
import { approvalInfo } from '../../sponsoring';
import { prepared } from '../ledger/fixture';
import { listAddress, unlist } from '../screening/factors';
import { explain } from '../../explained';
import { until } from '../transfers/served';
import { createSettlementFixture, ether, ServedSettlements, type SettlementFixture } from './workflow-fixture';

/** Settlements before which an approval of the payer is executed, run by the workflow of transfers. */

jest.setTimeout(120_000);

const patientMs = 60_000;
let stuckAfterMs = patientMs;
const served = new ServedSettlements(() => createSettlementFixture({ stuckAfterMs }), booksAgree);
let fixture: SettlementFixture;
beforeEach(() => {
  fixture = served.fixture;
});

/** Of the approval, atomic units. */
const maxCost = 70_000n * 3_000_000_000n;

async function booksAgree(): Promise<void> {
  const available = await fixture.anvil.client.getBalance({ address: fixture.settler.address as Hex });
  expect(await fixture.balance(fixture.settler, 'ETH')).toEqual({ available, locked: 0n });
  expect(await verifyLedger(fixture.database.manager)).toEqual([]);
}

/** The approval of the payer, who has no coins unless a test says so. */
async function approval(topUp = maxCost): Promise<{ sponsoring: Extract<Sponsoring, { type: 'approval' }>; topUp: bigint }> {
  const { signedTransaction: raw } = await approvalInfo({
    ...{ payer: fixture.payer, token: fixture.usdc.contract as Hex, chainId: 1 },
  });
  return { sponsoring: { type: 'approval', raw, id: keccak256(raw), nonce: 0, maxCost }, topUp };
}
const record = (txId: string, name: string) => served.record(transferWorkflowId(txId), name);
const topUps = () =>
  fixture.database.query<{ tx_id: string; parent_tx_id: string; amount: string; to_address: string; status: string }[]>(
    `select tx_id, parent_tx_id, amount, to_address, status from transactions where transaction_type = 'GAS_TOPUP'`,
  );
const sentAt = async (txId: string) => {
  const [row] = await fixture.database.query<{ sent_at: Date | null }[]>('select sent_at from x402_approvals where tx_id = $1', [
    txId,
  ]);
  return row?.sent_at ?? null;
};
/** The only one that was made: nothing is held for it any more. */
async function endTopUp(): Promise<void> {
  const made = await topUps();
  expect(made).toHaveLength(1);
  const txId = String(made[0]?.tx_id);
  await refuseAttempt(fixture.database, { txId });
  await fixture.ledger.endTransfer({ txId });
}
/** Whether the house has paid no more than so much for the client. */
async function budget(gasPerDay: bigint): Promise<string> {
  await fixture.database.query('update x402_policies set gas_per_day = $1', [gasPerDay.toString()]);
  const { alice, chain, payer } = fixture;
  const asked = { clientId: alice.clientId, chain: chain.name, payer: payer.address, gasBound: 0n };
  return checkGasBudget(fixture.database.manager, asked);
}
const payerNonce = () => fixture.anvil.client.getTransactionCount({ address: fixture.payer.address });
const hasFailed = (txId: string) =>
  until('ended', async () => {
    await fixture.mine();
    await fixture.follow({ signalTransfer: observationSignaller(served.client) });
    return (await served.status(txId)) === 'FAILED';
  });

test('the payer gets what it lacks, once, its approval is executed, then its payment', async () => {
  let answers = 0;
  await served.serve({
    ledger: {
      fundPayer: async (input) => {
        const result = await fixture.ledger.fundPayer(input);
        // the answer is lost
        if ((answers += 1) === 1) throw new Error('lost');
        return result;
      },
    },
  });
  const wanted = await approval();
  const txId = await served.settle(600, wanted);
  const topUpId = await served.startTopUp(txId);
  await served.ends(txId, 'CONFIRMED');
  expect(answers).toBe(2);
  expect(await topUps()).toMatchObject([
    { tx_id: topUpId, parent_tx_id: txId, amount: maxCost.toString(), to_address: fixture.payer.address },
  ]);
  await served.ends(topUpId, 'CONFIRMED');
  const fees = BigInt(String((await fixture.transaction(txId)).fee)) + BigInt(String((await fixture.transaction(topUpId)).fee));
  expect([await budget(fees), await budget(fees - 1n)]).toEqual(['within', 'exhausted']);
  const receipt = await fixture.anvil.client.getTransactionReceipt({ hash: wanted.sponsoring.id });
  expect(receipt.status).toBe('success');
  expect(await sentAt(txId)).not.toBeNull();
  await record(txId, 'settlement-confirmed-approved');
});

test('a payer that has the coins gets none', async () => {
  await served.serve();
  await fixture.send(fixture.payer, maxCost);
  await fixture.mine();
  const txId = await served.settle(600, await approval(0n));
  await served.ends(txId, 'CONFIRMED');
  expect(await payerNonce()).toBe(1);
  expect(await topUps()).toEqual([]);
});

test('without a house that has the coins nothing is sent', async () => {
  await served.serve();
  await fixture.database.query(`update ledger_accounts set frozen_reason = 'of a test' where account_id = $1`, [
    fixture.settler.accountId,
  ]);
  const txId = await served.settle(600, await approval());
  await hasFailed(txId);
  expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'insufficient_balance', signing_begun_at: null });
  expect(await topUps()).toEqual([]);
  await record(txId, 'settlement-failed-not-funded');
});

test('what the policy of the client does not give any more is not given', async () => {
  const txId = await fixture.accept(600, await approval());
  await fixture.database.query('update x402_policies set top_up_per_day = $1', [(maxCost - 1n).toString()]);
  expect(await fixture.ledger.fundPayer({ txId })).toMatchObject({ outcome: 'refused', code: 'business_error' });
  await fixture.database.query('update x402_policies set top_up_per_day = $1, sponsors_approval = false', [ether.toString()]);
  expect(await fixture.ledger.fundPayer({ txId })).toMatchObject({ outcome: 'refused', code: 'business_error' });
  await fixture.database.query('update x402_policies set sponsors_approval = true');
  expect(await fixture.ledger.fundPayer({ txId })).toEqual({ outcome: 'funded' });
  await endTopUp();
});

test('a payer that the client has blacklisted gets no coins, also where the worker has made the transaction', async () => {
  const txId = await fixture.accept(600, await approval());
  const { clientId } = await fixture.database.manager.findOneByOrFail(TransactionEntity, { txId });
  const factorId = await listAddress(fixture.database, { clientId }, fixture.payer.address);
  expect(await fixture.ledger.fundPayer({ txId })).toMatchObject({ outcome: 'refused', code: 'business_error' });
  await unlist(fixture.database, factorId);
  expect(await fixture.ledger.fundPayer({ txId })).toEqual({ outcome: 'funded' });
  const [made] = await topUps();
  const next = { txId: made?.tx_id ?? '', attempt: 1, kind: 'first' } as const;
  const begin = () => fixture.ledger.beginAttempt({ ...next, prepared: prepared({ gasLimit: 21_000n }) });
  await fixture.database.query(`update security_factors set status = 'active' where factor_id = $1`, [factorId]);
  expect(await begin()).toMatchObject({ outcome: 'refused', code: 'address_blacklisted', byRule: true });
  await endTopUp();
});

test('coins that the payer spends on something else are lost, and the settlement fails', async () => {
  await served.serve();
  const txId = await served.settle(600, await approval());
  const topUpId = await served.startTopUp(txId);
  const other = await fixture.payer.signTransaction({
    ...{ type: 'eip1559', chainId: 1, nonce: 0, to: fixture.payTo as Hex, value: 1n, gas: 21_000n },
    ...{ maxFeePerGas: 9_000_000_000n, maxPriorityFeePerGas: 5_000_000_000n },
  });
  await until('spent', async () => {
    const balance = await fixture.anvil.client.getBalance({ address: fixture.payer.address });
    if (balance === 0n) await fixture.mine();
    else await fixture.anvil.client.sendRawTransaction({ serializedTransaction: other }).catch(() => undefined);
    return balance > 0n;
  });
  await hasFailed(txId);
  expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'broadcast_rejected', signing_begun_at: null });
  await served.ends(topUpId, 'CONFIRMED');
  await record(txId, 'settlement-failed-approval-replaced');
});

test('an approval that is not executed in time ends the settlement, and what was not given is not given', async () => {
  await served.serve();
  const txId = await served.settle(9, await approval());
  await until('ended', async () => (await served.status(txId)) === 'FAILED');
  expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'expired', signing_begun_at: null });
  expect(await sentAt(txId)).toBeNull();
  const topUpId = await served.startTopUp(txId);
  await until('the top-up is abandoned', async () => (await served.status(topUpId)) === 'FAILED');
  expect(await payerNonce()).toBe(0);
});

describe('coins that were sent and are in no block', () => {
  beforeAll(() => (stuckAfterMs = 1_500));
  afterAll(() => (stuckAfterMs = patientMs));

  test('are abandoned as soon as their settlement has ended, and their nonce is used up', async () => {
    await served.serve();
    const txId = await fixture.accept(600, await approval());
    await fixture.ledger.fundPayer({ txId });
    const topUpId = await served.startTopUp(txId);
    await until('sent', async () => (await served.status(topUpId)) === 'SUBMITTED');
    const explained = await explain({ database: fixture.database, temporal: served.client }, topUpId);
    expect(explained).toMatchObject({ transaction: { type: 'GAS_TOPUP', parent_tx_id: txId }, workflow: { state: 'open' } });
    const { related } = await explain({ database: fixture.database }, txId);
    expect(related).toMatchObject([{ tx_id: topUpId, type: 'GAS_TOPUP', status: 'SUBMITTED' }]);
    await refuseAttempt(fixture.database, { txId });
    await fixture.ledger.endTransfer({ txId });
    await until('abandoned', async () =>
      (await fixture.attempts(topUpId)).some(({ kind, broadcast_at: sent }) => kind === 'cancellation' && sent !== null),
    );
    await hasFailed(topUpId);
    expect(await fixture.transaction(topUpId)).toMatchObject({ failure_code: 'expired', cancellation_reason: 'expired' });
    expect(await fixture.anvil.client.getBalance({ address: fixture.payer.address })).toBe(0n);
    await record(topUpId, 'top-up-failed-not-needed');
  });
});

describe('a top-up that is parked', () => {
  beforeAll(() => (stuckAfterMs = 1_500));
  afterAll(() => (stuckAfterMs = patientMs));

  test('is given up soon after its settlement has ended', async () => {
    await served.serve({
      sign: ({ kind }) => {
        if (kind === 'gas') throw new GatewayError('intent_mismatch', 'of a test');
      },
    });
    const txId = await fixture.accept(600, await approval());
    await fixture.ledger.fundPayer({ txId });
    const topUpId = await served.startTopUp(txId);
    await until('parked', async () => (await served.status(topUpId)) === 'NEEDS_ATTENTION');
    await refuseAttempt(fixture.database, { txId });
    await fixture.ledger.endTransfer({ txId });
    await until('given up', async () => (await fixture.attempts(topUpId)).some(({ kind }) => kind === 'cancellation'));
    await hasFailed(topUpId);
    expect(await fixture.transaction(topUpId)).toMatchObject({ failure_code: 'expired', cancellation_reason: 'expired' });
    await record(topUpId, 'top-up-failed-parked-not-needed');
  });

  test('is not: proven impossible it ends, and so does its settlement, long before its time is over', async () => {
    let isOtherSent = false;
    await served.serve({
      chain: {
        broadcast: async (input) => {
          if (!isOtherSent) await useNonceOtherwise(input.txId);
          isOtherSent = true;
          return fixture.onChain.broadcast(input);
        },
      },
    });
    const txId = await served.settle(600, await approval());
    const topUpId = await served.startTopUp(txId);
    await hasFailed(topUpId);
    const [attempt] = await fixture.attempts(topUpId);
    expect(attempt).toMatchObject({ impossible_proof: { used_by: expect.stringMatching(/^0x/) } });
    expect(await fixture.transaction(topUpId)).toMatchObject({ failure_code: 'expired', tx_hash: null });
    await hasFailed(txId);
    expect(await fixture.transaction(txId)).toMatchObject({ failure_code: 'insufficient_balance', signing_begun_at: null });
    await record(topUpId, 'top-up-failed-by-proof');
  });

  /** A transaction of the settler that the gateway does not know, final; it leaves no trace in the balance. */
  async function useNonceOtherwise(txId: string): Promise<void> {
    const { anvil, chain, client, signatures, mine } = fixture;
    const [from, kind] = [fixture.settler.address, 'cancellation'] as const;
    const family = fixture.getFamily(chain.family);
    const unsigned = (await fixture.attempts(txId))[0]?.unsigned as Hex;
    const { resources } = family.describe(unsigned);
    const intent = toAttemptIntent({ from, outputs: [] }, kind);
    const other = family.build({ chain, intent, kind, prepared: family.recover(unsigned, ether), resources });
    const before = await anvil.client.getBalance({ address: from as Hex });
    expect(await client.broadcast(family.assemble(other, signatures(other), from).bytes)).toEqual({ outcome: 'accepted' });
    await mine(chain.finalityDepth + 1);
    await anvil.client.setBalance({ address: from as Hex, value: before });
  }
});

describe('what one node shows is no verdict at once', () => {
  test('an approval that is replaced is judged as deep as the chain needs', async () => {
    const { sponsoring, topUp } = await approval(0n);
    await fixture.send(fixture.payer, ether);
    await fixture.mine();
    const txId = await fixture.accept(600, { sponsoring, topUp });
    const other = await fixture.payer.signTransaction({
      ...{ type: 'eip1559', chainId: 1, nonce: 0, to: fixture.payTo as Hex, value: 1n, gas: 21_000n },
      ...{ maxFeePerGas: 9_000_000_000n, maxPriorityFeePerGas: 5_000_000_000n },
    });
    await fixture.anvil.client.sendRawTransaction({ serializedTransaction: other });
    await fixture.mine();
    const { confirmations } = fixture.chain;
    expect(confirmations).toBeGreaterThan(1);
    for (let depth = 1; depth < confirmations; depth += 1) {
      expect(await fixture.onChain.sendApproval({ txId })).toMatchObject({ outcome: 'waiting' });
      await fixture.mine();
    }
    expect(await fixture.onChain.sendApproval({ txId })).toMatchObject({ outcome: 'refused', code: 'broadcast_rejected' });
  });

  test('an approval that is reverted likewise', async () => {
    const { sponsoring, topUp } = await approval(0n);
    await fixture.send(fixture.payer, ether);
    await fixture.mine();
    const txId = await fixture.accept(600, { sponsoring, topUp });
    const usdc = fixture.usdc.contract as Hex;
    const code = (await fixture.anvil.client.getCode({ address: usdc })) as Hex;
    await fixture.anvil.client.setCode({ address: usdc, bytecode: '0xfe' });
    expect(await fixture.onChain.sendApproval({ txId })).toMatchObject({ outcome: 'waiting' });
    await fixture.mine();
    await fixture.anvil.client.setCode({ address: usdc, bytecode: code });
    for (let depth = 1; depth < fixture.chain.confirmations; depth += 1) {
      expect(await fixture.onChain.sendApproval({ txId })).toMatchObject({ outcome: 'waiting' });
      await fixture.mine();
    }
    expect(await fixture.onChain.sendApproval({ txId })).toMatchObject({ outcome: 'refused', code: 'reverted_on_chain' });
  });

  /** The node that simulates reverts the payment so often. */
  const prepareAfter = async (reverts: number) => {
    const txId = await fixture.accept(600, await approval());
    const { database, logger, getSignedType } = fixture.options;
    const client = Object.create(fixture.client) as ChainClient;
    let asked = 0;
    client.prepare = (request) => {
      if ((asked += 1) <= reverts) throw new GatewayError('would_revert', 'it has not seen the approval');
      return fixture.client.prepare(request);
    };
    const clients = new Map([[fixture.chain.name, client]]);
    const prepared = prepareAttempt({ database, clients, logger, getSignedType }, { txId, attempt: 1, kind: 'first' });
    const outcome = await prepared.then(
      () => 'prepared',
      (error: GatewayError) => error.code,
    );
    return { asked, outcome };
  };

  test('a payment that is reverted right after its approval is tried again, a few times', async () => {
    expect(await prepareAfter(2)).toEqual({ asked: 3, outcome: 'prepared' });
  });

  test('and then is reverted', async () => {
    expect(await prepareAfter(Infinity)).toEqual({ asked: 5, outcome: 'would_revert' });
  });
});

test('a payment that no node estimates is asked for again while there is time; then it is over, and that is recorded', async () => {
  const txId = await fixture.accept(600);
  const { database, logger, getSignedType } = fixture.options;
  const client = Object.create(fixture.client) as ChainClient;
  client.prepare = () => Promise.reject(new GatewayError('not_estimated', 'in words that nobody knows'));
  const clients = new Map([[fixture.chain.name, client]]);
  const ask = () => prepareAttempt({ database, clients, logger, getSignedType }, { txId, attempt: 1, kind: 'first' });
  await expect(ask()).rejects.toMatchObject({ code: 'not_estimated' });
  const refusals = () => database.query('select code from refusals where tx_id = $1', [txId]);
  expect(await refusals()).toEqual([]);
  await database.transaction(async (manager) => {
    await manager.query('set local session_replication_role = replica');
    await manager.query('update x402_settlements set window_end = extract(epoch from now())::bigint - 2 where tx_id = $1', [
      txId,
    ]);
  });
  await expect(ask()).rejects.toMatchObject({ code: 'expired' });
  expect(await refusals()).toEqual([{ code: 'expired' }]);
});

test('coins are made once, whoever asks at the same time', async () => {
  const txId = await fixture.accept(600, await approval());
  const { database, chain, getFamily } = fixture;
  const started: OutboxMessage[] = [];
  const outbox = { deliverSoon: (message: OutboxMessage) => void started.push(message) };
  const ledger = createTestLedger({ database, registry: new ChainRegistry([chain]), getFamily, outbox });
  const asked = Array.from({ length: 5 }, () => ledger.fundPayer({ txId }));
  for (const answer of await Promise.all(asked)) expect(answer).toEqual({ outcome: 'funded' });
  // not by the dispatcher, which waits for what its writers deliver themselves
  expect(started).toMatchObject([{ kind: 'start_transfer', subjectId: (await topUps())[0]?.tx_id }]);
  // the bounds that the fixture states, of the settlement and of its coins, each once
  expect([await budget(2n), await budget(1n)]).toEqual(['within', 'exhausted']);
  await endTopUp();
  expect([await budget(1n), await budget(0n)]).toEqual(['within', 'exhausted']);
  expect(await fixture.ledger.fundPayer({ txId })).toEqual({ outcome: 'funded' });
  expect(await topUps()).toHaveLength(1);
  expect(await fixture.onChain.sendApproval({ txId })).toMatchObject({ outcome: 'refused', code: 'insufficient_balance' });
});

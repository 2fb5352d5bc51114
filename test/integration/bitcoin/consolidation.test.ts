import { beginConsolidation, type ConsolidationRequest, planConsolidation } from '../../../src/consolidations/begin';
import { listAuditLog } from '../../../src/audit/list';
import { toScript } from '../../../src/chains/bitcoin/codec/address';
import { virtualSize } from '../../../src/chains/bitcoin/sizes';
import { listOutputs } from '../../../src/chains/small-outputs';
import { verifyLedger } from '../../../src/ledger/verify';
import type { Hex } from '../../../src/chains/types';
import type { SigningClaims } from '../../../src/messages/order';
import { getSignedType, typeOfOrder } from '../../../src/signed-types';
import { rebuildTransfer } from '../../../src/transfers/rebuild/rebuild';
import { claimsOf } from '../../orders';
import { explain } from '../../explained';
import { openDatabase } from '../../stack/database';
import { describeWithBtcd } from '../../stack/btcd';
import { backUp } from '../transfers/backup';
import { addOutputs, type BitcoinFixture, createBitcoinFixture } from './fixture';

const coin = 100_000_000n;
const small = 5_000n;
const operator = { type: 'operator', id: 'olga' } as const;
let fixture: BitcoinFixture;

describeWithBtcd('consolidation', () => {
  beforeEach(async () => {
    fixture = await createBitcoinFixture({ stuckAfterMs: 0 });
  }, 60_000);
  afterEach(() => fixture.close());

  const dependencies = () => ({ database: fixture.database, registry: fixture.registry, getFamily: fixture.getFamily });
  const toRequest = (changes: Partial<ConsolidationRequest> = {}): ConsolidationRequest => ({
    ...{ accountId: fixture.alice.accountId, maxInputs: 64, below: 10_000n, maxFee: null },
    ...changes,
  });
  const consolidate = async (changes: Partial<ConsolidationRequest> = {}) =>
    (await beginConsolidation(dependencies(), toRequest(changes), operator)).txId as string;
  const feeOf = async (inputs: number) => (await fixture.rate()) * virtualSize(inputs, [toScript(fixture.alice.addressKey)]);
  const open = async () => (await fixture.outputs(fixture.alice)).filter(({ spent_by: by }) => by === null);
  const booksAgree = async () => {
    expect(await fixture.balance(fixture.alice, 'BTC')).toEqual({ available: await fixture.unspent(fixture.alice), locked: 0n });
    expect(await verifyLedger(fixture.database.manager)).toEqual([]);
  };
  const outputsOf = (count: number, amount = small) => Array.from({ length: count }, () => amount);

  test('joins small outputs to one of the account: nothing but the fee leaves it, to the satoshi', async () => {
    const { alice, fund, sign, send, settle, attempts, transaction, balance, database, chain } = fixture;
    await fund(alice, [...outputsOf(6), coin]);
    const fee = await feeOf(6);
    const planned = await planConsolidation(dependencies(), toRequest());
    expect(planned).toMatchObject({ txId: null, inputs: 6, amount: 6n * small, fee });
    const txId = await consolidate();
    const { feeLocked } = planned;
    expect(await balance(alice, 'BTC')).toEqual({ available: coin + 6n * small - feeLocked, locked: feeLocked });
    expect(await explain({ database, client: fixture.client, chains: [chain] }, txId)).toMatchObject({
      ...{ transaction: { type: 'CONSOLIDATION', amount: '0' }, state: { status: 'PENDING' } },
      chain: { state: 'answered', note: 'Nothing of it is signed: there is nothing to ask about' },
    });
    const { hash } = await sign(txId, 1);
    expect(await send(txId, 1)).toMatchObject({ outcome: 'accepted', hash });
    expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
    const [{ signers }] = (await attempts(txId)) as [{ signers: { digests: string[] }[] }];
    expect(signers[0]?.digests).toHaveLength(6);
    expect(await transaction(txId)).toMatchObject({
      ...{ transaction_type: 'CONSOLIDATION', tx_hash: hash, amount: '0', fee: String(fee) },
      ...{ from_address: alice.address, to_address: alice.address, client_id: alice.clientId },
    });
    expect((await open()).map(({ amount }) => BigInt(amount))).toEqual([coin, 6n * small - fee]);
    // what comes back is no deposit
    expect((await fixture.inbound()).filter(({ tx_hash: id }) => id === hash)).toEqual([]);
    await booksAgree();
    await fixture.mine(chain.finalityDepth);
    await fixture.follow();
    expect((await transaction(txId)).finalized_at).not.toBeNull();
    const audited = (await listAuditLog(database.manager, { limit: 100 })).filter(({ action }) => action.includes('consol'));
    expect(audited).toMatchObject([
      {
        action: 'account.consolidation_begun',
        actor_id: 'olga',
        subject_id: alice.accountId,
        detail: { tx_id: txId, inputs: 6 },
      },
    ]);
    expect(await database.query(`select kind, subject_id from workflow_outbox`)).toEqual([
      { kind: 'start_transfer', subject_id: txId },
    ]);
  });

  test('is ordered as what it is: to the account itself, with every input', async () => {
    const { alice, fund, onChain, ledger } = fixture;
    await fund(alice, outputsOf(3));
    const txId = await consolidate();
    const next = { txId, attempt: 1, kind: 'first' as const };
    const begun = await ledger.beginAttempt({ ...next, prepared: await onChain.prepareAttempt(next) });
    if (begun.outcome !== 'begun') throw new Error(begun.outcome);
    const claims = claimsOf(begun.order);
    expect(claims).toMatchObject({
      ...{ kind: 'consolidation', from: alice.address, max_fee: String(await feeOf(3)) },
      recipients: [{ address: alice.address, token: null, amount: '0' }],
    });
    expect(typeOfOrder(claims.kind)).toBe('CONSOLIDATION');
  });

  test('leaves what a transfer needs that waits', async () => {
    const { alice, fund, pay, sign, send, settle, follow, mine, held } = fixture;
    await fund(alice, outputsOf(6, 9_000n));
    // needs two of the outputs, and nothing of it has begun
    const waiting = await pay('0.00012');
    const txId = await consolidate();
    await sign(txId, 1);
    await send(txId, 1);
    const taken = await held(txId);
    expect(taken.length).toBeGreaterThanOrEqual(2);
    expect(taken.length).toBeLessThanOrEqual(4);
    await sign(waiting, 1);
    expect(await send(waiting, 1)).toMatchObject({ outcome: 'accepted' });
    await mine(fixture.chain.confirmations);
    await follow();
    expect(await settle(txId, 0)).toMatchObject({ status: 'CONFIRMED' });
    expect(await settle(waiting, 0)).toMatchObject({ status: 'CONFIRMED' });
    await booksAgree();
  });

  test('takes no output that is big, held, not deep enough, or worth less than its input', async () => {
    const { alice, database, fund, node, mine, follow, pay, sign } = fixture;
    await fund(alice, [coin, ...outputsOf(3)]);
    await addOutputs(fixture, 5, (await fixture.rate()) * 68n);
    expect(await planConsolidation(dependencies(), toRequest())).toMatchObject({ inputs: 3 });
    await node.send(alice.address, small);
    await mine(1);
    await follow();
    expect(await planConsolidation(dependencies(), toRequest())).toMatchObject({ inputs: 3 });
    expect(await planConsolidation(dependencies(), toRequest({ below: small + 1n, maxInputs: 2 }))).toMatchObject({ inputs: 2 });
    await expect(planConsolidation(dependencies(), toRequest({ below: small }))).rejects.toMatchObject({
      code: 'business_error',
    });
    // held by a transfer
    const txId = await pay('0.9');
    await sign(txId, 1);
    const listed = await listOutputs(database.manager, { chain: 'bitcoin', addressKey: alice.addressKey }, 100);
    expect(listed.filter(({ heldBy }) => heldBy !== null)).toMatchObject([{ amount: coin, heldBy: txId }]);
    expect(listed.map(({ amount }) => amount)).toEqual([...listed.map(({ amount }) => amount)].sort((a, b) => Number(a - b)));
    expect(await planConsolidation(dependencies(), toRequest({ below: 2n * coin }))).toMatchObject({ inputs: 3 });
  });

  test('never costs more than is held for it: it fails unsigned when fees have risen, and nothing is taken', async () => {
    const { alice, fund, begin, balance, held } = fixture;
    await fund(alice, outputsOf(5));
    await expect(consolidate({ maxFee: (await feeOf(5)) - 1n })).rejects.toMatchObject({ code: 'business_error' });
    const txId = await consolidate({ maxFee: await feeOf(5) });
    expect(await begin(txId, { rate: String((await fixture.rate()) + 1n) })).toMatchObject({
      outcome: 'refused',
      code: 'fee_above_bound',
    });
    expect(await held(txId)).toEqual([]);
    expect(await fixture.ledger.endTransfer({ txId })).toMatchObject({ status: 'FAILED' });
    expect(await balance(alice, 'BTC')).toEqual({ available: 5n * small, locked: 0n });
    await booksAgree();
  });

  test('one at a time for an account; of none that has nothing to join, or is unknown', async () => {
    const { alice, bob, fund } = fixture;
    await fund(alice, outputsOf(4));
    await consolidate({ maxInputs: 2 });
    await expect(consolidate()).rejects.toMatchObject({ code: 'business_error', message: expect.stringMatching(/in progress/) });
    await expect(consolidate({ accountId: bob.accountId })).rejects.toMatchObject({ code: 'business_error' });
    await expect(consolidate({ accountId: 'unknown' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is replaced at a higher fee within what is held, with the same inputs', async () => {
    const { alice, fund, sign, send, settle, held, attempts } = fixture;
    await fund(alice, outputsOf(5));
    const txId = await consolidate();
    await sign(txId, 1);
    await send(txId, 1);
    const { hash } = await sign(txId, 2);
    expect(await send(txId, 2)).toMatchObject({ outcome: 'accepted', hash });
    expect((await held(txId)).map(({ attempts: of }) => of)).toEqual(Array.from({ length: 5 }, () => [1, 2]));
    expect(await settle(txId)).toMatchObject({ status: 'CONFIRMED' });
    const [first, second] = (await attempts(txId)).map(({ fee_bound: fee }) => Number(fee));
    expect(second).toBeGreaterThan(first as number);
    await booksAgree();
  });

  test('that a reorganisation takes out of its block is confirmed in another one', async () => {
    const { alice, node, fund, sign, send, settle, mine, follow } = fixture;
    await fund(alice, outputsOf(3));
    const txId = await consolidate();
    await sign(txId, 1);
    await send(txId, 1);
    await mine();
    await follow();
    await node.invalidate(await node.height());
    await mine(3);
    await follow();
    expect(await settle(txId, 0)).toMatchObject({ status: 'CONFIRMED' });
    expect(await open()).toHaveLength(1);
    await booksAgree();
  });

  test('is rebuilt from its orders, after a backup was restored that is older', async () => {
    const { alice, database, registry, getFamily, fund, sign, attempts } = fixture;
    await fund(alice, outputsOf(4));
    const backup = await backUp(database);
    const txId = await consolidate();
    await sign(txId, 1);
    const [order] = await database.query<{ claims: SigningClaims }[]>('select claims from orders');
    const [{ unsigned }] = (await attempts(txId)) as [{ unsigned: Hex }];
    const restored = await backup.restore();
    try {
      const rebuilt = { registry, getFamily, getSignedType, typeOfOrder };
      const orders = [{ claims: order?.claims as SigningClaims, bytes: [unsigned] }];
      await restored.transaction((manager) => rebuildTransfer(manager, rebuilt, orders));
      expect(
        await restored.query('select transaction_type, status, amount, to_address from transactions where is_signed'),
      ).toEqual([{ transaction_type: 'CONSOLIDATION', status: 'SIGNING', amount: '0', to_address: alice.address }]);
      expect(await restored.query('select resource from reservations')).toHaveLength(4);
      expect(await verifyLedger(restored.manager)).toEqual([]);
    } finally {
      await restored.destroy();
      await backup.drop();
    }
  });

  test("is stored by the operator's login, and by no other", async () => {
    const { alice, fund } = fixture;
    await fund(alice, outputsOf(4));
    const logins = await fixture.logins();
    for (const role of ['gateway_api', 'gateway_worker', 'gateway_authoriser'] as const) {
      const database = await openDatabase(logins[role]);
      const attempt = beginConsolidation({ ...dependencies(), database }, toRequest(), operator);
      await expect(attempt).rejects.toThrow(/permission denied|may not make/);
      await database.destroy();
    }
    const database = await openDatabase(logins.gateway_operator);
    const { txId } = await beginConsolidation({ ...dependencies(), database }, toRequest(), operator);
    await database.destroy();
    expect(await fixture.transaction(txId as string)).toMatchObject({ status: 'PENDING', amount: '0' });
  });
});

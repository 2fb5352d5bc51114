import type { DataSource, EntityManager } from 'typeorm';
import { MadeWithdrawals0103 } from '../../../migrations/0103-made-withdrawals';
import { MarkMadeWithdrawals0104 } from '../../../migrations/0104-mark-made-withdrawals';
import { getFamily } from '../../../src/chains/families';
import { formatUnmade } from '../../../src/cli/explain/render';
import { explainUnmade } from '../../../src/cli/explain/unmade';
import { currentOperator } from '../../../src/cli/operator';
import { findTransfer } from '../../../src/cli/find-transfer';
import { checkWithdrawal, withdrawFromSettler } from '../../../src/cli/settler-withdrawals';
import { tryCancel } from '../../../src/cli/transfer-dry-run';
import { SettlerEntity } from '../../../src/settlers/entity';
import { cancelWithdrawal } from '../../../src/settlers/withdrawals/cancel';
import { lockRequest } from '../../../src/settlers/withdrawals/request';
import { sendRequestedWithdrawals } from '../../../src/settlers/withdrawals/send';
import type { SigningClaims } from '../../../src/messages/order';
import { houseClientId } from '../../../src/platform/house';
import { newId } from '../../../src/platform/ids';
import { fundAccount, ledgerAccountOf, randomAddress, signAs } from '../../factories';
import { explain, explainFrom } from '../../explained';
import { openDatabase } from '../../stack/database';
import { claimsOf } from '../../orders';
import { createFixture, differences, ether, ethereum, type Fixture, include, prepared, registry } from '../ledger/fixture';
import { until } from '../transfers/served';
import { buildSettler } from '../x402/settlement-fixture';
import { createSettling } from '../x402/settling';

/** Coins of drained settlers that leave the house, with the logins of those who act. */

let fixture: Fixture;
let asOperator: DataSource;
let asWorker: DataSource;
let asAuthoriser: DataSource;
let built: Awaited<ReturnType<typeof buildSettler>>;
let settling: ReturnType<typeof createSettling>;
let to: string;

beforeAll(async () => {
  fixture = await createFixture({ poolSize: 5 });
  const logins = await fixture.logins();
  [asOperator, asWorker, asAuthoriser] = await Promise.all([
    openDatabase(logins.gateway_operator),
    openDatabase(logins.gateway_worker),
    openDatabase(logins.gateway_authoriser),
  ]);
});
beforeEach(async () => {
  built = await buildSettler(fixture.database, ethereum);
  settling = createSettling(fixture, built);
  await fundAccount(fixture.database, built.account, ethereum, 'ETH', ether);
  to = randomAddress();
});
afterAll(async () => {
  await Promise.all([asOperator, asWorker, asAuthoriser].map((database) => database.destroy()));
  await fixture.close();
});

const query = <T>(sql: string, values: unknown[] = []): Promise<T[]> => fixture.database.query<T[]>(sql, values);
const settlerId = () => built.settler.settlerId;
const setStatus = (status: 'ACTIVE' | 'DRAINING') =>
  asOperator.manager.update(SettlerEntity, { settlerId: settlerId() }, { status });
/** Long enough ago. */
async function drain(): Promise<void> {
  await setStatus('DRAINING');
  await fixture.database.transaction(async (manager) => {
    await manager.query('set local session_replication_role = replica');
    await manager.query(`update settlers set draining_since = draining_since - interval '11 seconds' where settler_id = $1`, [
      settlerId(),
    ]);
  });
}
const request = (options: { to?: string; amount?: string } = {}) =>
  withdrawFromSettler({ database: asOperator, registry, getFamily, waitMs: 0 }, settlerId(), { to, ...options });
const send = () => sendRequestedWithdrawals({ database: asWorker, registry, getFamily });
/** Asked for and made; its tx_id. */
async function withdraw(amount?: string): Promise<string> {
  const { tx_id: txId } = await request(amount === undefined ? {} : { amount });
  await send();
  return txId;
}
const balance = async () => {
  const { available, locked } = await ledgerAccountOf(fixture.database, built.account, ethereum, 'ETH');
  return { available, locked };
};
const row = async (txId: string) =>
  (await query<Record<string, string | null>>('select * from transactions where tx_id = $1', [txId]))[0];
/** The transaction of a request for half a coin, past the code that makes it. */
async function insertMade(database: Pick<EntityManager, 'query'>, txId: string, changes: object = {}): Promise<void> {
  const fields = { to_address: to, to_address_key: to.toLowerCase(), amount: (ether / 2n).toString(), ...changes };
  await database.query(
    `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, from_address, to_address,
       to_address_key, token_symbol, decimals, amount, fee_symbol, fee_decimals, fee_locked, status, required_confirmations)
     select $1, a.client_id, a.wallet_id, a.account_id, l.ledger_account_id, 'ethereum', 'GAS_WITHDRAWAL', a.address, $2, $3, 'ETH', 18,
       $4, 'ETH', 18, 1, 'PENDING', 1
       from accounts a join ledger_accounts l using (account_id) where a.account_id = $5`,
    [txId, fields.to_address, fields.to_address_key, fields.amount, built.account.accountId],
  );
}
const fees = { gasLimit: 21_000n };
const begin = (txId: string, changes = {}) =>
  settling.ledger.beginSigning({ txId, lastAttempt: 0, kind: 'first', prepared: prepared({ ...fees, ...changes }) });

async function sign(txId: string): Promise<SigningClaims> {
  const begun = await begin(txId);
  if (begun.outcome !== 'begun') throw new Error(JSON.stringify(begun));
  const signatures = signAs(built.wallet, built.account, begun.unsigned);
  await settling.ledger.recordSigned({ txId, attempt: begun.attempt, signatures });
  return claimsOf(begun.order);
}

test('everything leaves the settler but what is left of the fee, under an order that says what it is for', async () => {
  await drain();
  const txId = await withdraw();
  const made = await row(txId);
  const feeLocked = BigInt(String(made?.fee_locked));
  const amount = BigInt(String(made?.amount));
  expect(made).toMatchObject({
    ...{ transaction_type: 'GAS_WITHDRAWAL', client_id: houseClientId, account_id: built.account.accountId, parent_tx_id: null },
    ...{ from_address: built.account.address, to_address: to, token_symbol: 'ETH', status: 'PENDING' },
  });
  expect([amount + feeLocked, feeLocked > 0n]).toEqual([ether, true]);
  expect(await balance()).toEqual({ available: 0n, locked: ether });
  expect(await query('select kind, client_id, chain from workflow_outbox where subject_id = $1', [txId])).toEqual([
    { kind: 'start_transfer', client_id: houseClientId, chain: null },
  ]);
  const claims = await sign(txId);
  expect(claims).toMatchObject({ kind: 'withdrawal', client_id: houseClientId, request: null });
  expect(claims.recipients).toEqual([{ address: to, token: null, amount: amount.toString() }]);
  await settling.ledger.markSubmitted({ txId, attempt: 1 });
  const explained = await explain({ database: asOperator }, txId);
  expect(explained).toMatchObject({ transaction: { type: 'GAS_WITHDRAWAL' }, orders: [{ kind: 'withdrawal' }] });
  // nobody calls the API for the house
  expect(explained.actions.map(({ by }) => by)).toEqual(['operator']);

  // a replacement says the same
  const again = await settling.ledger.beginSigning({
    ...{ txId, lastAttempt: 1, kind: 'replacement' },
    prepared: prepared({ ...fees, maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 2_000_000_000n }),
  });
  expect(again.outcome === 'begun' && claimsOf(again.order)).toMatchObject({ kind: 'replacement', purpose: 'withdrawal' });

  await include(fixture, txId, 1, { fee: 21_000n, debited: amount });
  expect(await settling.end(txId)).toMatchObject({ status: 'CONFIRMED' });
  expect(await balance()).toEqual({ available: feeLocked - 21_000n, locked: 0n });
  expect(await differences(fixture)).toEqual([]);
});

test('a stated amount, and another one after it has ended; the settler is used again then', async () => {
  await drain();
  const txId = await withdraw('0.25');
  expect(await row(txId)).toMatchObject({ amount: (ether / 4n).toString() });
  await expect(request()).rejects.toMatchObject({ code: 'business_error', message: expect.stringMatching(/Another withdrawal/) });
  await expect(setStatus('ACTIVE')).rejects.toThrow(/a withdrawal of settler .* is open/);
  await sign(txId);
  await include(fixture, txId, 1, { fee: 21_000n, debited: ether / 4n });
  await settling.end(txId);
  const next = await withdraw('0.5');
  expect(await row(next)).toMatchObject({ status: 'PENDING' });
  await query(`insert into refusals (tx_id, attempt, kind, code, reason) values ($1, 1, 'chain', 'stuck', 'of a test')`, [next]);
  expect(await settling.ledger.endTransfer({ txId: next })).toMatchObject({ status: 'FAILED' });
  await setStatus('ACTIVE');
  expect(await differences(fixture)).toEqual([]);
});

test('the request is audited with the operator', async () => {
  await drain();
  const { tx_id: txId } = await request({ amount: '0.5' });
  expect(
    await query(
      `select actor_type, outcome, detail from audit_events where action = 'settler.withdrawal_requested' and subject_id = $1`,
      [settlerId()],
    ),
  ).toEqual([
    {
      ...{ actor_type: 'operator', outcome: 'success' },
      detail: { chain: 'ethereum', to_address: to, amount: '0.5', tx_id: txId },
    },
  ]);
  expect(await query('select to_address, amount, operator from settler_withdrawals where withdrawal_id = $1', [txId])).toEqual([
    { to_address: to, amount: (ether / 2n).toString(), operator: expect.stringMatching(/./) },
  ]);
});

describe('is refused', () => {
  const refused = (message: RegExp) => ({ code: 'business_error', message: expect.stringMatching(message) });

  test('from a settler that is not drained, or was drained just now', async () => {
    await expect(request()).rejects.toMatchObject(refused(/not drained/));
    await setStatus('DRAINING');
    await expect(request()).rejects.toMatchObject(refused(/less than 10 seconds ago/));
  });

  test('while a settlement of the settler is open', async () => {
    await settling.accept();
    await drain();
    await expect(request()).rejects.toMatchObject(refused(/is open/));
  });

  test('to no address, to the settler itself, of no amount, and of an unknown settler', async () => {
    await drain();
    for (const [options, field] of [
      [{ to: 'somewhere' }, '--to'],
      [{ to: built.account.address }, '--to'],
      [{ amount: '0' }, '--amount'],
      [{ amount: '1e3' }, '--amount'],
    ] as const)
      await expect(request(options)).rejects.toMatchObject({
        code: 'invalid_parameter',
        message: expect.stringContaining(field),
      });
    const operation = { database: asOperator, registry, getFamily, waitMs: 0 };
    await expect(withdrawFromSettler(operation, newId(), { to })).rejects.toMatchObject({ code: 'not_found' });
    expect(await query('select from settler_withdrawals where settler_id = $1', [settlerId()])).toEqual([]);
  });

  test('only tried: what would be checked is, and nothing is written', async () => {
    const operation = { database: asOperator, registry, getFamily };
    await expect(checkWithdrawal(operation, settlerId(), { to })).rejects.toMatchObject({ code: 'business_error' });
    await drain();
    await checkWithdrawal(operation, settlerId(), { to });
    expect(await query('select from settler_withdrawals where settler_id = $1', [settlerId()])).toEqual([]);
    expect(
      await query(`select from audit_events where subject_id = $1 and action like 'settler.withdrawal%'`, [settlerId()]),
    ).toEqual([]);
  });

  test('of more than there is: nothing is held, and the operator is told', async () => {
    await drain();
    const { tx_id: txId } = await request({ amount: '1' });
    await send();
    expect(await query('select refused from settler_withdrawals where withdrawal_id = $1', [txId])).toEqual([
      { refused: expect.stringMatching(/does not have the amount/) },
    ]);
    expect(await row(txId)).toBeUndefined();
    expect(await balance()).toEqual({ available: ether, locked: 0n });
    await expect(request({ amount: '0.9' })).resolves.toMatchObject({ status: 'requested' });
  });

  test('by the authoriser, where something else of the settler is open by then', async () => {
    await drain();
    const txId = await withdraw('0.1');
    const settlement = await settling.accept();
    expect(await begin(txId)).toMatchObject({ outcome: 'refused', code: 'business_error' });
    await query(`update transactions set status = 'CANCELLED', version = version + 1 where tx_id = $1`, [settlement]);
    expect(await begin(txId)).toMatchObject({ outcome: 'begun' });
  });
});

test('is neither made nor refused before the orders of the nodes are compared, and refused then: it may have been sent after a backup', async () => {
  await drain();
  const { tx_id: txId } = await request({ amount: '0.1' });
  const refused = async () => (await query('select refused from settler_withdrawals where withdrawal_id = $1', [txId]))[0];
  const [compared] = await query<{ compared_as: string }>('select compared_as from order_comparison');
  await query(`update order_comparison set compared_as = 'another'`);
  await send();
  expect(await refused()).toEqual({ refused: null });
  await query('update order_comparison set compared_as = $1', [compared?.compared_as]);
  await send();
  expect(await refused()).toEqual({ refused: expect.stringMatching(/was started or restored after this was asked for/) });
  expect(await query('select from transactions where tx_id = $1', [txId])).toEqual([]);
});

test('is made once, whichever workers make it', async () => {
  await drain();
  const { tx_id: txId } = await request();
  await Promise.all(Array.from({ length: 4 }, send));
  expect(await row(txId)).toMatchObject({ status: 'PENDING' });
  expect(await query(`select from ledger_postings where tx_id = $1`, [txId])).toHaveLength(1);
});

test('one that another worker makes, or an operator takes back at the moment, is left: nobody waits for it', async () => {
  await drain();
  const { tx_id: txId } = await request();
  await asOperator.transaction(async (manager) => {
    await lockRequest(manager, txId);
    await send();
    expect(await row(txId)).toBeUndefined();
  });
  await send();
  expect(await row(txId)).toMatchObject({ status: 'PENDING' });
});

describe('cancelled by an operator', () => {
  const cancel = (txId: string) =>
    cancelWithdrawal(asOperator, { txId, actor: { type: 'operator', id: 'ann' }, statedReason: 'another destination' });
  const dryRun = (txId: string) => tryCancel(explainFrom({ database: asOperator }), txId);
  const park = (txId: string) => settling.ledger.parkTransfer({ txId, code: 'not_estimated', reason: 'nobody answers' });

  test('while it is parked and nothing of it is signed: everything is there for another one', async () => {
    await drain();
    const txId = await withdraw('0.4');
    await park(txId);
    expect(await row(txId)).toMatchObject({ status: 'NEEDS_ATTENTION', failure_code: 'not_estimated' });
    await expect(request()).rejects.toMatchObject({ code: 'business_error' });
    const { actions } = await explain({ database: asOperator }, txId);
    expect(actions).toContainEqual(expect.objectContaining({ name: 'cancel', command: `gateway transfers cancel ${txId}` }));

    await cancel(txId);
    expect(await row(txId)).toMatchObject({ status: 'CANCELLED', failure_code: null, failure_message: null });
    expect(await balance()).toEqual({ available: ether, locked: 0n });
    expect(await query('select kind from workflow_outbox where subject_id = $1 order by kind', [txId])).toContainEqual({
      kind: 'transfer_ended',
    });
    expect(
      await query(
        `select actor_type, actor_id, outcome, detail from audit_events where action = 'transfer.cancelled' and subject_id = $1`,
        [txId],
      ),
    ).toEqual([
      {
        ...{ actor_type: 'operator', actor_id: 'ann', outcome: 'success' },
        detail: { status: 'NEEDS_ATTENTION', stated_reason: 'another destination' },
      },
    ]);
    expect(await begin(txId)).toEqual({ outcome: 'ended', status: 'CANCELLED' });
    await expect(cancel(txId)).rejects.toMatchObject({ code: 'business_error', message: 'The withdrawal has ended: CANCELLED' });
    const next = await withdraw();
    expect(await row(next)).toMatchObject({ status: 'PENDING' });
    expect(await differences(fixture)).toEqual([]);
  });

  describe('before a worker has made it', () => {
    const refusedOf = async (txId: string) =>
      (await query<{ refused: string | null }>('select refused from settler_withdrawals where withdrawal_id = $1', [txId]))[0]
        ?.refused;

    test('it never gets a transaction, whoever was about to make it, and another one can be asked for', async () => {
      await drain();
      const { tx_id: txId } = await request({ amount: '0.4' });
      await expect(request()).rejects.toMatchObject({ code: 'business_error', message: expect.stringContaining(txId) });
      await cancel(txId);
      expect(await refusedOf(txId)).toBe('cancelled by ann');
      expect(
        await query(
          `select actor_type, actor_id, outcome, client_id, detail from audit_events where action = 'transfer.cancelled' and subject_id = $1`,
          [txId],
        ),
      ).toEqual([
        {
          ...{ actor_type: 'operator', actor_id: 'ann', outcome: 'success', client_id: houseClientId },
          detail: { status: 'requested', settler_id: settlerId(), stated_reason: 'another destination' },
        },
      ]);
      await send();
      expect(await row(txId)).toBeUndefined();
      expect(await balance()).toEqual({ available: ether, locked: 0n });
      await expect(cancel(txId)).rejects.toMatchObject({
        ...{ code: 'business_error', message: 'Nothing is withdrawn: cancelled by ann' },
      });
      const next = await withdraw();
      expect(await row(next)).toMatchObject({ status: 'PENDING' });
      expect(await differences(fixture)).toEqual([]);
    });

    test('while it is made: it ends in one of the two ways, and holds nothing', async () => {
      await drain();
      for (let round = 0; round < 5; round += 1) {
        const { tx_id: txId } = await request({ amount: '0.4' });
        await Promise.all([send(), cancel(txId), send()]);
        await send();
        const made = await row(txId);
        expect([made?.status ?? 'not made', await refusedOf(txId)]).toEqual(
          made ? ['CANCELLED', null] : ['not made', 'cancelled by ann'],
        );
        expect(await balance()).toEqual({ available: ether, locked: 0n });
      }
      expect(await differences(fixture)).toEqual([]);
    });

    test('past the lock of the command too: its transaction is not inserted while it is taken back, nor the other way round', async () => {
      await drain();
      const { tx_id: txId } = await request({ amount: '0.5' });
      const take = `update settler_withdrawals set refused = 'x' where withdrawal_id = $1`;
      const waits = async () =>
        (await query(`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`)).length ===
        1;
      const undone = new Error('of this test');
      let taking: Promise<unknown> = Promise.resolve();
      const inserting = asWorker.transaction(async (manager) => {
        await insertMade(manager, txId);
        taking = asOperator.query(take, [txId]);
        await until('the operator waits', waits);
        throw undone;
      });
      await expect(inserting).rejects.toBe(undone);
      await taking;

      const { tx_id: next } = await request({ amount: '0.5' });
      let made: Promise<string> = Promise.resolve('');
      await asOperator.transaction(async (manager) => {
        await manager.query(take, [next]);
        made = insertMade(asWorker, next).then(
          () => 'made',
          (error: Error) => error.message,
        );
        await until('the worker waits', waits);
      });
      expect(await made).toMatch(/not what an operator has asked for/);
    });

    test('not before the orders of the nodes are compared: it may have been made after a backup', async () => {
      await drain();
      const { tx_id: txId } = await request({ amount: '0.4' });
      const [compared] = await query<{ compared_as: string }>('select compared_as from order_comparison');
      await query(`update order_comparison set compared_as = 'another'`);
      await expect(cancel(txId)).rejects.toMatchObject({ code: 'reconcile_required' });
      await expect(dryRun(txId)).rejects.toMatchObject({ code: 'reconcile_required' });
      await query('update order_comparison set compared_as = $1', [compared?.compared_as]);
      expect(await refusedOf(txId)).toMatch(/was started or restored after this was asked for/);
    });

    test('`gateway explain` says that it is not made, and how it is taken back; the commands for transfers send there', async () => {
      await drain();
      const { tx_id: txId } = await request({ amount: '0.4' });
      const explained = () => explainUnmade(explainFrom({ database: asOperator }), txId.toUpperCase());
      const waiting = await explained();
      expect(waiting).toMatchObject({
        withdrawal: {
          tx_id: txId,
          settler_id: settlerId(),
          chain: 'ethereum',
          to,
          amount: '0.4',
          symbol: 'ETH',
          requested_by: currentOperator().id,
        },
        status: 'requested',
        why: [expect.stringMatching(/nothing is locked/), expect.stringMatching(/^A worker makes it within seconds/)],
        actions: [{ name: 'cancel', command: `gateway transfers cancel ${txId}` }],
      });
      if (!waiting) throw new Error('nothing is explained');
      expect(formatUnmade(waiting)).toContain(`gateway transfers cancel ${txId}`);
      const toExplain = {
        code: 'business_error',
        message: `The withdrawal has no transaction: \`gateway explain ${txId}\` says why`,
      };
      await expect(findTransfer(asOperator.manager, txId)).rejects.toMatchObject(toExplain);

      await query(`update order_comparison set compared_as = 'another'`);
      const uncompared = await explained();
      expect(uncompared).toMatchObject({
        ...{ status: 'requested', actions: [] },
        why: [expect.any(String), expect.stringMatching(/not compared with the orders/)],
      });
      if (!uncompared) throw new Error('nothing is explained');
      expect(formatUnmade(uncompared)).toContain('Nothing, until the orders are compared.');
      await query('update order_comparison set compared_as = database_incarnation()');
      const refused = await explained();
      expect(refused).toMatchObject({ status: 'refused', why: [expect.stringMatching(/was started or restored/)], actions: [] });

      const made = await withdraw('0.4');
      expect(await explainUnmade(explainFrom({ database: asOperator }), made)).toBeNull();
      expect(await explainUnmade(explainFrom({ database: asOperator }), 'somebody')).toBeNull();
      expect(await findTransfer(asOperator.manager, made)).toMatchObject({ txId: made, status: 'PENDING' });
      await cancel(made);
    });
  });

  test('only tried: what it would do is said, and nothing is written', async () => {
    await drain();
    const { tx_id: txId } = await request({ amount: '0.4' });
    expect(await dryRun(txId)).toEqual({ tx_id: txId, status: 'requested', would: expect.stringMatching(/^It never gets/) });
    await send();
    expect(await dryRun(txId)).toEqual({ tx_id: txId, status: 'PENDING', would: expect.stringMatching(/^It ends as CANCELLED/) });
    await begin(txId);
    await expect(dryRun(txId)).rejects.toMatchObject({ message: expect.stringMatching(/^Signing has begun/) });
    expect(await row(txId)).toMatchObject({ status: 'SIGNING' });
    expect(await query(`select from audit_events where action = 'transfer.cancelled' and subject_id = $1`, [txId])).toEqual([]);
    await expect(dryRun(newId())).rejects.toMatchObject({ code: 'not_found' });
    await expect(dryRun('somebody')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('no more once its signing has begun, whatever asks the database', async () => {
    await drain();
    const txId = await withdraw('0.4');
    expect(await begin(txId)).toMatchObject({ outcome: 'begun' });
    await park(txId);
    const before = await balance();
    await expect(cancel(txId)).rejects.toMatchObject({
      ...{ code: 'business_error', message: expect.stringMatching(/Signing has begun.*gateway transfers abandon/) },
    });
    await expect(
      asOperator.query(`update transactions set status = 'CANCELLED', version = version + 1 where tx_id = $1`, [txId]),
    ).rejects.toThrow(/has begun signing/);
    expect(await balance()).toEqual(before);
  });

  test('nothing else: neither a settlement nor what is not there', async () => {
    const settlement = await settling.accept();
    await expect(cancel(settlement)).rejects.toMatchObject({ message: expect.stringMatching(/withdrawals from settlers alone/) });
    await expect(
      asOperator.query(`update transactions set status = 'CANCELLED', version = version + 1 where tx_id = $1`, [settlement]),
    ).rejects.toThrow(/gateway_operator may not make transaction/);
    await expect(cancel(newId())).rejects.toMatchObject({ code: 'not_found' });
  });

  test('its end and what it held are written together', async () => {
    await drain();
    const txId = await withdraw('0.4');
    const end = `update transactions set status = 'CANCELLED', version = version + 1 where tx_id = $1`;
    await expect(asOperator.query(end, [txId])).rejects.toThrow(/do not fit its state/);
    const { asset_id: asset } = (await row(txId)) ?? {};
    const unlock = `with p as (insert into ledger_postings (posting_id, tx_id, kind, seq, entries) values ($1, $2, 'unlock', 1, 2))
      insert into ledger_entries (posting_id, line, ledger_account_id, bucket, chain, symbol, amount)
      values ($1, 0, $3, 'LOCKED', 'ethereum', 'ETH', -1), ($1, 1, $3, 'AVAILABLE', 'ethereum', 'ETH', 1)`;
    await expect(asOperator.query(unlock, [newId(), txId, asset])).rejects.toThrow(/do not fit its state/);
    expect((await balance()).locked).toBeGreaterThan(0n);
  });

  test('not before the orders of the nodes are compared: it may have been signed after a backup', async () => {
    await drain();
    const txId = await withdraw('0.4');
    const [compared] = await query<{ compared_as: string }>('select compared_as from order_comparison');
    await query(`update order_comparison set compared_as = 'another'`);
    await expect(cancel(txId)).rejects.toMatchObject({ code: 'reconcile_required' });
    await query('update order_comparison set compared_as = $1', [compared?.compared_as]);
    await cancel(txId);
  });
});

test('no migration waits for one of the tables of a withdrawal while it keeps workers from the other', async () => {
  const undone = `drop trigger transactions_withdrawal_made on transactions; drop function mark_withdrawal_made();
    alter table settler_withdrawals drop column is_made`;
  const runner = fixture.database.createQueryRunner();
  /** Of locks that a reader or writer of rows waits for. */
  const locked = async () => {
    const rows = (await runner.query(
      `select relation::regclass::text as name from pg_locks
        where pid = pg_backend_pid() and relation in ('transactions'::regclass, 'settler_withdrawals'::regclass)
          and mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock') group by 1`,
    )) as { name: string }[];
    return rows.map(({ name }) => name);
  };
  const found: string[][] = [];
  try {
    await runner.query(undone);
    for (const migration of [new MadeWithdrawals0103(), new MarkMadeWithdrawals0104()]) {
      await runner.startTransaction();
      await migration.up(runner);
      found.push(await locked());
      await runner.commitTransaction();
    }
  } finally {
    await runner.release();
  }
  expect(found).toEqual([['settler_withdrawals'], ['transactions']]);
});

describe('the database', () => {
  const insert = `insert into settler_withdrawals (withdrawal_id, settler_id, to_address, to_address_key, operator) values ($1, $2, $3, $3, 'x')`;

  test('takes requests from operators alone, which are written once', async () => {
    await drain();
    const values = () => [newId(), settlerId(), to];
    for (const database of [asWorker, asAuthoriser])
      await expect(database.query(insert, values())).rejects.toThrow(/permission denied/);
    const { tx_id: txId } = await request();
    const change = 'update settler_withdrawals set';
    for (const database of [asOperator, asWorker])
      await expect(database.query(`${change} to_address = $1`, [randomAddress()])).rejects.toThrow(/permission denied/);
    await expect(asAuthoriser.query(`${change} refused = 'x'`)).rejects.toThrow(/permission denied/);
    await expect(query(`${change} to_address = $1 where withdrawal_id = $2`, [randomAddress(), txId])).rejects.toThrow(
      /written once/,
    );
    await expect(query('delete from settler_withdrawals')).rejects.toThrow(/append-only/);
    const setMade = (isMade: boolean) => query(`${change} is_made = $1 where withdrawal_id = $2`, [isMade, txId]);
    await expect(setMade(true)).rejects.toThrow(/written once/);
    await send();
    expect(await query('select is_made from settler_withdrawals where withdrawal_id = $1', [txId])).toEqual([{ is_made: true }]);
    await expect(setMade(false)).rejects.toThrow(/written once/);
    for (const database of [asOperator, asWorker])
      await expect(database.query(`${change} refused = 'x' where withdrawal_id = $1`, [txId])).rejects.toThrow(/written once/);
  });

  test('takes no request past the command either, from a settler that is not drained', async () => {
    await expect(asOperator.query(insert, [newId(), settlerId(), to])).rejects.toThrow(/is not drained/);
  });

  test('has no transaction of the kind without the request of an operator, and none to somewhere else', async () => {
    await drain();
    const { tx_id: txId } = await request({ amount: '0.5' });
    const resumed = () =>
      fixture.database.transaction(async (manager) => {
        await manager.query('set local session_replication_role = replica');
        await manager.query(`update settlers set status = 'ACTIVE', draining_since = null`);
      });
    const other = randomAddress();
    for (const [id, changes] of [
      [newId(), {}],
      [txId, { to_address: other, to_address_key: other.toLowerCase() }],
      [txId, { amount: '1' }],
    ] as const)
      await expect(insertMade(asWorker, id, changes)).rejects.toThrow(/not what an operator has asked for/);
    await resumed();
    await expect(insertMade(asWorker, txId)).rejects.toThrow(/not what an operator has asked for/);
  });
});

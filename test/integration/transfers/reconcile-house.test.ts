import type { DataSource } from 'typeorm';
import { getFamily } from '../../../src/chains/families';
import type { ReconcileOptions } from '../../../src/cli/reconcile-operations';
import { withdrawFromSettler } from '../../../src/cli/settler-withdrawals';
import { verifyLedger } from '../../../src/ledger/verify';
import type { Hex } from '../../../src/chains/types';
import type { SigningClaims } from '../../../src/messages/order';
import type { SeenOrder } from '../../../src/mpc/seen-orders';
import { newId } from '../../../src/platform/ids';
import { SettlerEntity } from '../../../src/settlers/entity';
import { sendRequestedWithdrawals } from '../../../src/settlers/withdrawals/send';
import { fundPayer } from '../../../src/x402/settlement/fund-payer';
import { findTransactionForUpdate } from '../../../src/transactions/state';
import { endUnsigned } from '../../../src/transfers/end/end';
import { buildTransferRequest, fundAccount, randomAddress, signAs } from '../../factories';
import { openDatabase } from '../../stack/database';
import { newKeyPair } from '../../keys';
import { createTestLedger, type TestLedger } from '../../ledger';
import { claimsOf, forgeOrder } from '../../orders';
import { ether, ethereum, type Fixture, include, prepared, registry } from '../ledger/fixture';
import {
  allowSettling,
  buildSettler,
  claim,
  type Claim,
  claimBy,
  insertSettlement,
  insertTransaction,
} from '../x402/settlement-fixture';
import { type Backup, backUp } from './backup';
import { useFundedFixture } from './fixture';
import { reconcileShown } from './reconciling';

/** What the house has signed for itself after a backup: once the backup is restored, the rows are as they were. */

jest.setTimeout(120_000);

let fixture: Fixture;
useFundedFixture((it) => (fixture = it));
let built: Awaited<ReturnType<typeof buildSettler>>;
let seen: SeenOrder[];
let started: string[];
let backup: Backup | undefined;
let restored: DataSource | undefined;

beforeEach(async () => {
  [seen, started, backup, restored] = [[], [], undefined, undefined];
  built = await buildSettler(fixture.database, ethereum);
  await fundAccount(fixture.database, built.account, ethereum, 'ETH', ether);
});
afterEach(async () => {
  if (restored) expect(await verifyLedger(restored.manager)).toEqual([]);
  await restored?.destroy();
  await backup?.drop();
});

async function restore(): Promise<{ database: DataSource; ledger: TestLedger }> {
  if (!backup) throw new Error('there is no backup');
  const database = (restored = await backup.restore());
  return { database, ledger: createTestLedger({ database, registry, log: { error: () => undefined, warn: () => undefined } }) };
}
const run = (database: DataSource, options: Partial<ReconcileOptions> = {}) =>
  reconcileShown(database, seen, {
    apply: true,
    start: ({ txId }) => Promise.resolve(started.push(txId)),
    countUsed: () => Promise.resolve(0n),
    ...options,
  });

/** Begun, so that nodes have seen its order. `maxFee`: of the native coin, for a plain payment. */
async function order(txId: string, maxFee?: bigint): Promise<Hex> {
  const fees = maxFee === undefined ? {} : { gasLimit: 21_000n, maxFeePerGas: maxFee / 21_000n };
  const result = await fixture.ledger.beginSigning({ txId, lastAttempt: 0, kind: 'first', prepared: prepared(fees) });
  if (result.outcome !== 'begun') throw new Error(JSON.stringify(result));
  seen.push({ compact: result.order, unsigned: result.unsigned });
  return result.unsigned;
}

/** Signed, sent, in a final block, and settled. */
async function execute(at: Pick<Fixture, 'database' | 'ledger'>, txId: string, unsigned: Hex, debited: bigint): Promise<void> {
  const signatures = signAs(built.wallet, built.account, unsigned);
  await at.ledger.recordSigned({ txId, attempt: 1, signatures });
  await at.ledger.markSubmitted({ txId, attempt: 1 });
  await include({ ...fixture, ...at }, txId, 1, { fee: 21_000n, debited });
  expect(await at.ledger.settleTransfer({ txId })).toMatchObject({ status: 'CONFIRMED' });
}

/** What is in no order, by table: times, and what the request alone said. */
const unknown: Record<string, string[]> = {
  transactions: ['created_at', 'updated_at', 'signing_begun_at', 'ended_at', 'block_hash'],
  settler_withdrawals: ['requested_at', 'operator'],
  settlers: ['draining_since'],
  transfer_attempts: ['signing_begun_at', 'signed_at', 'broadcast_at', 'block_hash'],
  reservations: ['reserved_at', 'released_at'],
  orders: ['issued_at'],
};

/** All that the database has of one, but what is unknown. `also`: what else is, by table. */
async function rowsOf(
  database: DataSource,
  txId: string,
  also: Record<string, string[]> = {},
): Promise<Record<string, unknown[]>> {
  const read = async (table: string, where: string) =>
    (
      await database.query<{ row: unknown }[]>(
        `select to_jsonb(t) - $2::text[] as row from ${table} t where ${where} order by 1`,
        [txId, [...(unknown[table] ?? []), ...(also[table] ?? [])]],
      )
    ).map(({ row }) => row);
  const ofTransaction = Object.fromEntries(
    await Promise.all(
      ['transactions', 'transfer_attempts', 'reservations', 'orders'].map(async (table) => [
        table,
        await read(table, 't.tx_id = $1'),
      ]),
    ),
  ) as Record<string, unknown[]>;
  const ofAccount = '(select account_id from transactions where tx_id = $1)';
  return {
    ...ofTransaction,
    settler_withdrawals: await read('settler_withdrawals', 't.withdrawal_id = $1'),
    settlers: await read('settlers', `t.account_id = ${ofAccount}`),
    ledger_accounts: await database.query(
      `select symbol, available, locked from ledger_accounts where account_id = ${ofAccount} order by symbol`,
      [txId],
    ),
    postings: await database.query(
      `select kind, seq, line, bucket, symbol, amount, ledger_account_id from ledger_postings join ledger_entries using (posting_id)
        where tx_id = $1 order by kind, seq, line`,
      [txId],
    ),
  };
}

describe('a withdrawal from a settler that was ordered after the backup', () => {
  const database = () => fixture.database;

  async function drain(): Promise<void> {
    const { settlerId } = built.settler;
    await database().manager.update(SettlerEntity, { settlerId }, { status: 'DRAINING' });
    await database().transaction(async (manager) => {
      await manager.query('set local session_replication_role = replica');
      await manager.query(`update settlers set draining_since = draining_since - interval '11 seconds'`);
    });
  }

  /** Drained, requested, made and ordered, with a backup before one of these steps; all that it has then. */
  async function lose(before: 'drained' | 'made' | 'ordered', amount?: string) {
    const step = async (name: typeof before) => {
      if (name === before) backup = await backUp(database());
    };
    const [chains, to] = [{ registry, getFamily }, randomAddress()];
    await step('drained');
    await drain();
    const { tx_id: txId } = await withdrawFromSettler({ database: database(), ...chains, waitMs: 0 }, built.settler.settlerId, {
      to,
      ...(amount !== undefined && { amount }),
    });
    await step('made');
    await sendRequestedWithdrawals({ database: database(), ...chains });
    const [made] = await database().query<[{ amount: string; fee_locked: string }]>(
      'select amount, fee_locked from transactions where tx_id = $1',
      [txId],
    );
    await step('ordered');
    const unsigned = await order(txId, BigInt(made.fee_locked));
    return { txId, unsigned, amount: BigInt(made.amount) };
  }

  test.each<['drained' | 'made' | 'ordered', string | undefined, Record<string, string[]>]>([
    // that all was asked for is in no order
    ['drained', undefined, { settler_withdrawals: ['amount'] }],
    ['drained', '0.25', {}],
    ['made', undefined, {}],
    ['ordered', undefined, {}],
  ])('and before the backup not %s (amount: %s) is as it was, and ends as it did', async (before, stated, alsoUnknown) => {
    const { txId, unsigned, amount } = await lose(before, stated);
    const withdrawn = await rowsOf(database(), txId, alsoUnknown);
    const copy = await restore();

    expect(await run(copy.database)).toMatchObject({
      ...{ rows: [{ subject: txId, result: 'rebuilt', orders: 1 }], started: [txId], isOpen: true },
    });
    expect(await rowsOf(copy.database, txId, alsoUnknown)).toEqual(withdrawn);
    expect(await verifyLedger(copy.database.manager)).toEqual([]);

    expect(await run(copy.database)).toMatchObject({ rows: [], isOpen: true });
    expect(await rowsOf(copy.database, txId, alsoUnknown)).toEqual(withdrawn);

    const again = await copy.ledger.beginSigning({ txId, lastAttempt: 1, kind: 'resume' });
    expect(again).toMatchObject({ outcome: 'begun', unsigned });
    await execute(fixture, txId, unsigned, amount);
    await execute(copy, txId, unsigned, amount);
    // but for the order with which it went on
    const [ended, same] = [await rowsOf(database(), txId, alsoUnknown), await rowsOf(copy.database, txId, alsoUnknown)];
    expect({ ...same, orders: [] }).toEqual({ ...ended, orders: [] });
  });

  test('is rebuilt beside a settlement of its settler that is open again', async () => {
    await allowSettling(database(), { clientId: fixture.client.clientId, chain: ethereum.name });
    const claimed = claimBy(fixture.client.clientId, built.account.address);
    await claim(database(), claimed);
    backup = await backUp(database());
    await execute(fixture, claimed.txId, await order(claimed.txId), 5n);
    await drain();
    const lost = await withdrawFromSettler({ database: database(), registry, getFamily, waitMs: 0 }, built.settler.settlerId, {
      to: randomAddress(),
      amount: '0.25',
    });
    await sendRequestedWithdrawals({ database: database(), registry, getFamily });
    await order(lost.tx_id, 21_000n * 2_000_000_000n);
    const copy = await restore();
    expect(await run(copy.database)).toMatchObject({
      rows: [
        { subject: claimed.txId, result: 'rebuilt' },
        { subject: lost.tx_id, result: 'rebuilt' },
      ],
      isOpen: true,
    });
    expect(await copy.database.query('select status from settlers')).toEqual([{ status: 'DRAINING' }]);
    expect(await copy.database.query(`select detail from audit_events where action = 'settler.drained'`)).toEqual([
      { detail: { was_primary: false, rebuilt: lost.tx_id } },
    ]);
  });

  /** What became of the request, and how many transactions its settler has for it. */
  const requestOf = (at: DataSource, txId: string) =>
    at.query<{ refused: string | null; made: string }[]>(
      `select refused, (select count(*) from transactions t where t.tx_id = w.withdrawal_id) as made
         from settler_withdrawals w where withdrawal_id = $1`,
      [txId],
    );
  const askAnew = expect.stringMatching(/the database was started or restored after this was asked for/);

  test('and accepted as missing is not made again from its request once the gateway is open', async () => {
    const { txId } = await lose('made');
    const { database: copy } = await restore();
    const [shown] = seen as [SeenOrder];
    seen = [{ ...shown, unsigned: null }];
    const row = { subject: txId, result: 'not rebuilt' };
    expect(await run(copy)).toMatchObject({ rows: [row], isOpen: false });
    expect(await requestOf(copy, txId)).toEqual([{ refused: null, made: '0' }]);
    expect(await run(copy, { apply: false, acceptMissing: 'stuck' })).toMatchObject({ isOpen: false });
    expect(await requestOf(copy, txId)).toEqual([{ refused: null, made: '0' }]);

    expect(await run(copy, { acceptMissing: 'stuck' })).toMatchObject({
      rows: [{ subject: txId, result: 'accepted as missing' }],
      isOpen: true,
    });
    await sendRequestedWithdrawals({ database: copy, registry, getFamily });
    expect(await requestOf(copy, txId)).toEqual([{ refused: askAnew, made: '0' }]);
  });

  test('and followed one that was refused after the backup: that one is not made from its request', async () => {
    await drain();
    const { settlerId } = built.settler;
    const withdraw = async () =>
      (
        await withdrawFromSettler({ database: database(), registry, getFamily, waitMs: 0 }, settlerId, {
          to: randomAddress(),
          amount: '0.25',
        })
      ).tx_id;
    const refused = await withdraw();
    backup = await backUp(database());
    await database().query(`update settler_withdrawals set refused = 'the fees are too high'`);
    const txId = await withdraw();
    await sendRequestedWithdrawals({ database: database(), registry, getFamily });
    await order(txId, 21_000n * 2_000_000_000n);
    const { database: copy } = await restore();
    expect(await run(copy)).toMatchObject({ rows: [{ subject: txId, result: 'rebuilt' }], isOpen: true });
    expect(await requestOf(copy, refused)).toEqual([{ refused: askAnew, made: '0' }]);
    expect(await requestOf(copy, txId)).toEqual([{ refused: null, made: '1' }]);
  });

  test('and cannot be rebuilt yet is not refused for one that followed it', async () => {
    const first = await lose('made', '0.25');
    await execute(fixture, first.txId, first.unsigned, first.amount);
    const { tx_id: next } = await withdrawFromSettler(
      { database: database(), registry, getFamily, waitMs: 0 },
      built.settler.settlerId,
      { to: randomAddress(), amount: '0.125' },
    );
    await sendRequestedWithdrawals({ database: database(), registry, getFamily });
    await order(next, 21_000n * 2_000_000_000n);
    const { database: copy } = await restore();
    const shown = seen;
    seen = shown.map((each, index) => (index === 0 ? { ...each, unsigned: null } : each));
    expect(await run(copy)).toMatchObject({
      rows: [
        { subject: first.txId, result: 'not rebuilt' },
        { subject: next, result: 'rebuilt' },
      ],
      isOpen: false,
    });
    expect(await requestOf(copy, first.txId)).toEqual([{ refused: null, made: '0' }]);
    seen = shown;
    expect(await run(copy)).toMatchObject({ rows: [{ subject: first.txId, result: 'rebuilt' }], isOpen: true });
    expect(await requestOf(copy, first.txId)).toEqual([{ refused: null, made: '1' }]);
  });

  test('of another account: what was asked for and not made is refused all the same, since it may have been cancelled after the backup', async () => {
    await drain();
    const { settlerId } = built.settler;
    const { tx_id: txId } = await withdrawFromSettler({ database: database(), registry, getFamily, waitMs: 0 }, settlerId, {
      to: randomAddress(),
      amount: '0.25',
    });
    backup = await backUp(database());
    await order((await fixture.ledger.lockTransfer(buildTransferRequest(fixture.account, ethereum))).txId);
    const { database: copy } = await restore();
    expect(await requestOf(copy, txId)).toEqual([{ refused: null, made: '0' }]);
    expect(await run(copy)).toMatchObject({ rows: [{ result: 'rebuilt' }], isOpen: true });
    await sendRequestedWithdrawals({ database: copy, registry, getFamily });
    expect(await requestOf(copy, txId)).toEqual([{ refused: askAnew, made: '0' }]);
  });

  test('that no key of the authoriser has signed rebuilds nothing', async () => {
    const { txId } = await lose('drained');
    await rebuildsNothing(txId);
    expect(await restored?.query('select status from settlers')).toEqual([{ status: 'ACTIVE' }]);
  });
});

describe('coins for a payer that were ordered after the backup', () => {
  const database = () => fixture.database;
  const given = ether / 1_000n;
  const clientId = () => fixture.client.clientId;

  beforeEach(() =>
    database().query(
      `insert into x402_policies (client_id, chain, is_enabled, sponsors_permit, sponsors_approval, top_up_per_day)
       values ($1, 'ethereum', true, false, true, $2)`,
      [clientId(), ether.toString()],
    ),
  );

  /** A settlement whose payer lacks coins for its approval. */
  async function accept(changes: Partial<Claim> = {}): Promise<Claim> {
    const claimed = claimBy(clientId(), built.account.address, changes);
    const { txId, token, payer } = claimed;
    await database().transaction(async (manager) => {
      await insertTransaction(manager, claimed);
      await insertSettlement(manager, claimed);
      await manager.query('set local session_replication_role = replica');
      await manager.query(`update x402_settlements set sponsoring = 'erc20_approval' where tx_id = $1`, [txId]);
      await manager.query('set local session_replication_role = origin');
      await manager.query(
        `insert into x402_approvals (tx_id, client_id, chain, contract_address, payer, raw, tx_hash, nonce, top_up, fee_bound)
         values ($1, $2, 'ethereum', $3, $4, '0x00', '0x00', 0, $5, 1000)`,
        [txId, clientId(), token, payer, given.toString()],
      );
    });
    return claimed;
  }

  /** Made for it; its tx_id. */
  async function make(settlementId: string): Promise<string> {
    await fundPayer({ database: database(), registry, getFamily }, { txId: settlementId });
    const [row] = await database().query<[{ tx_id: string }]>(
      `select tx_id from transactions where parent_tx_id = $1 and transaction_type = 'GAS_TOPUP'`,
      [settlementId],
    );
    return row.tx_id;
  }
  const orderMade = async (txId: string): Promise<Hex> => {
    const [row] = await database().query<[{ fee_locked: string }]>('select fee_locked from transactions where tx_id = $1', [
      txId,
    ]);
    return order(txId, BigInt(row.fee_locked));
  };
  const costs = (of: DataSource) => of.query<object[]>('select sum(fees) as fees, sum(given) as given from x402_costs');

  type Step = 'accepted' | 'made' | 'ordered';
  async function lose(before: Step) {
    const step = async (name: Step) => {
      if (name === before) backup = await backUp(database());
    };
    await step('accepted');
    const { txId: settlementId } = await accept();
    await step('made');
    const txId = await make(settlementId);
    await step('ordered');
    return { txId, settlementId, unsigned: await orderMade(txId) };
  }

  test.each<[Step, Record<string, string[]>]>([
    // its settlement is lost
    ['accepted', { transactions: ['parent_tx_id'] }],
    ['made', {}],
    ['ordered', {}],
  ])('and before the backup not %s are as they were, and end as they did', async (before, alsoUnknown) => {
    const { txId, settlementId, unsigned } = await lose(before);
    const lost = await rowsOf(database(), txId, alsoUnknown);
    const copy = await restore();

    expect(await run(copy.database)).toMatchObject({
      ...{ rows: [{ subject: txId, result: 'rebuilt', orders: 1 }], started: [txId], isOpen: true },
    });
    expect(await rowsOf(copy.database, txId, alsoUnknown)).toEqual(lost);
    expect(await copy.database.query('select parent_tx_id from transactions where tx_id = $1', [txId])).toEqual([
      { parent_tx_id: before === 'accepted' ? null : settlementId },
    ]);
    expect(await run(copy.database)).toMatchObject({ rows: [], isOpen: true });
    expect(await rowsOf(copy.database, txId, alsoUnknown)).toEqual(lost);

    await execute(fixture, txId, unsigned, given);
    await execute(copy, txId, unsigned, given);
    expect(await rowsOf(copy.database, txId, alsoUnknown)).toEqual(await rowsOf(database(), txId, alsoUnknown));
    if (before === 'accepted') return;
    expect(await costs(copy.database)).toEqual(await costs(database()));
    // nothing is given twice
    await fundPayer({ database: copy.database, registry, getFamily }, { txId: settlementId });
    expect(await copy.database.query(`select from transactions where transaction_type = 'GAS_TOPUP'`)).toHaveLength(1);
  });

  test('and whose settlement is lost are not sent again, but cancelled', async () => {
    const { txId } = await lose('accepted');
    const { database: copy, ledger } = await restore();
    await run(copy);
    const refused = { outcome: 'refused', code: 'expired' };
    expect(await ledger.beginSigning({ txId, lastAttempt: 1, kind: 'resume' })).toMatchObject(refused);
    const fees = { gasLimit: 21_000n, maxFeePerGas: 8_000_000_000n };
    expect(await ledger.beginSigning({ txId, lastAttempt: 1, kind: 'cancellation', prepared: prepared(fees) })).toMatchObject({
      outcome: 'begun',
      kind: 'cancellation',
    });
  });

  test('of two settlements that wait for just these are of one each: nothing is given twice', async () => {
    const first = await accept();
    const second = await accept({ payer: first.payer, token: randomAddress() });
    backup = await backUp(database());
    const given = [await make(second.txId), await make(first.txId)];
    for (const txId of given) await orderMade(txId);
    const { database: copy } = await restore();
    expect(await run(copy)).toMatchObject({ rows: given.map((subject) => ({ subject, result: 'rebuilt' })), isOpen: true });
    const topUps = () =>
      copy.query(`select tx_id, parent_tx_id from transactions where transaction_type = 'GAS_TOPUP' order by parent_tx_id`);
    const rebuilt = await topUps();
    expect(rebuilt).toMatchObject([first, second].map(({ txId }) => ({ parent_tx_id: txId })));
    for (const { txId } of [first, second]) await fundPayer({ database: copy, registry, getFamily }, { txId });
    expect(await topUps()).toEqual(rebuilt);
  });

  test('are rebuilt after their settlement has ended: what they may cost counts once', async () => {
    const { txId: settlementId } = await accept();
    backup = await backUp(database());
    const txId = await make(settlementId);
    const unsigned = await orderMade(txId);
    const copy = await restore();
    for (const each of [database(), copy.database])
      await each.transaction(async (manager) =>
        endUnsigned(manager, await findTransactionForUpdate(manager, settlementId), {
          ...{ status: 'CANCELLED', code: 'unavailable', reason: 'test' },
        }),
      );
    expect(await run(copy.database)).toMatchObject({ rows: [{ subject: txId, result: 'rebuilt' }], isOpen: true });
    expect(await copy.database.query('select parent_tx_id from transactions where tx_id = $1', [txId])).toEqual([
      { parent_tx_id: settlementId },
    ]);
    expect(await costs(copy.database)).toEqual(await costs(database()));
    await execute(fixture, txId, unsigned, given);
    await execute(copy, txId, unsigned, given);
    expect(await costs(copy.database)).toEqual(await costs(database()));
    expect(await costs(copy.database)).toEqual([{ fees: '21000', given: given.toString() }]);
  });

  test('without a settlement, or of one that needs them no more, are rebuilt by the owner alone: the worker is refused', async () => {
    const { txId: settlementId, payer } = await accept();
    const { txId: sent } = await accept({ payer, token: randomAddress() });
    const { txId: ended } = await accept({ payer, token: randomAddress() });
    const txId = await make(settlementId);
    const past = (sql: string, id: string) =>
      database().transaction(async (manager) => {
        await manager.query('set local session_replication_role = replica');
        await manager.query(sql, [id]);
      });
    await past('update x402_approvals set sent_at = now() where tx_id = $1', sent);
    await past(`update transactions set ended_at = now(), status = 'FAILED' where tx_id = $1`, ended);
    const worker = await openDatabase((await fixture.logins()).gateway_worker);
    const again = (parent: string) =>
      worker.query(
        `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, from_address, to_address,
           to_address_key, token_symbol, decimals, amount, fee_symbol, fee_decimals, fee_locked, status, required_confirmations, parent_tx_id)
         select $2, client_id, wallet_id, account_id, asset_id, chain, transaction_type, from_address, to_address,
           to_address_key, token_symbol, decimals, amount, fee_symbol, fee_decimals, fee_locked, status, required_confirmations, ${parent}
           from transactions where tx_id = $1`,
        [txId, newId()],
      );
    try {
      for (const parent of ['null', `'${sent}'`, `'${ended}'`])
        await expect(again(parent)).rejects.toThrow(/not what a payer lacks/);
      // past that rule, it is one for each settlement
      await expect(again('parent_tx_id')).rejects.toThrow(/top_ups_by_parent/);
    } finally {
      await past(`update transactions set ended_at = null, status = 'PENDING' where tx_id = $1`, ended);
      await worker.destroy();
    }
  });

  test('that no key of the authoriser has signed are not rebuilt', async () => {
    const { txId } = await lose('made');
    await rebuildsNothing(txId);
  });
});

/** Its order, signed by somebody else, keeps the gateway closed, and nothing of it is stored. */
async function rebuildsNothing(txId: string): Promise<void> {
  const [shown] = seen as [SeenOrder];
  const claims = claimsOf<SigningClaims>(shown.compact);
  seen = [{ ...shown, compact: await forgeOrder(claims, { key: newKeyPair('ed25519').privateKey }) }];
  const { database } = await restore();
  expect(await run(database)).toMatchObject({
    rows: [{ subject: `order:${claims.jti}`, result: 'not rebuilt' }],
    isOpen: false,
  });
  // as of an id that nothing has
  expect(await rowsOf(database, txId)).toEqual(await rowsOf(database, claims.jti));
}

import type { DataSource } from 'typeorm';
import { findContradictedEnds } from '../../../src/following/contradicted-ends';
import { houseClientId } from '../../../src/platform/house';
import { newId } from '../../../src/platform/ids';
import { chargeGas } from '../../../src/settlers/charge-gas';
import { reconcileReorg } from '../../../src/transfers/confirm/reconcile-reorg';
import { findTransaction } from '../../../src/transactions/state';
import { fundAccount, ledgerAccountOf, randomHash } from '../../factories';
import { buildSettler } from '../x402/settlement-fixture';
import { createSettling } from '../x402/settling';
import { openDatabase } from '../../stack/database';
import { createFixture, differences, ether, ethereum, type Fixture } from './fixture';

/** What a settlement costs its settler. */

let fixture: Fixture;
/** With the login of the worker. */
let asWorker: DataSource;
let settler: Awaited<ReturnType<typeof buildSettler>>['account'];
let settling: ReturnType<typeof createSettling>;
let alerts: object[];

beforeAll(async () => {
  fixture = await createFixture({ poolSize: 5 });
  const { gateway_worker: url } = await fixture.logins();
  asWorker = await openDatabase(url);
});
beforeEach(async () => {
  alerts = [];
  const built = await buildSettler(fixture.database, ethereum);
  settler = built.account;
  const log = { error: (alert: object) => void alerts.push(alert) };
  settling = createSettling(fixture, built, { worker: asWorker, log });
  await fundAccount(fixture.database, settler, ethereum, 'ETH', ether);
});
afterAll(async () => {
  await asWorker.destroy();
  await fixture.close();
});

const charge = (txId: string, fee: bigint) =>
  asWorker.transaction(async (manager) =>
    chargeGas(manager, { settlement: await findTransaction(manager, txId), chain: ethereum, fee }),
  );
const gasOf = (txId: string) =>
  fixture.database.query<Record<string, unknown>[]>(
    `select client_id, account_id, transaction_type, token_symbol, amount, status, version from transactions where parent_tx_id = $1`,
    [txId],
  );
const entriesOf = (txId: string) =>
  fixture.database.query<unknown[]>(
    `select p.kind, e.bucket, e.amount from ledger_entries e join ledger_postings p using (posting_id) join transactions t using (tx_id)
      where t.parent_tx_id = $1 order by e.bucket`,
    [txId],
  );
const asset = () => ledgerAccountOf(fixture.database, settler, ethereum, 'ETH');

test('the fee leaves the settler as a transaction of the house', async () => {
  const txId = await settling.settleFor(21_000n);
  const account = { client_id: houseClientId, account_id: settler.accountId };
  expect(await gasOf(txId)).toEqual([
    { ...account, transaction_type: 'GAS', token_symbol: 'ETH', amount: '21000', status: 'CONFIRMED', version: 1 },
  ]);
  expect(await entriesOf(txId)).toEqual([
    { kind: 'gas', bucket: 'AVAILABLE', amount: '-21000' },
    { kind: 'gas', bucket: 'FEES', amount: '21000' },
  ]);
  expect((await asset()).available).toBe(ether - 21_000n);
  expect(alerts).toEqual([]);
  expect(await differences(fixture)).toEqual([]);
});

test('what the settler does not have is lost by the house, with an alert, and the settler is frozen', async () => {
  const txId = await settling.settleFor(ether + 7n);
  expect(await entriesOf(txId)).toEqual([
    { kind: 'gas', bucket: 'AVAILABLE', amount: (-ether).toString() },
    { kind: 'gas', bucket: 'FEES', amount: (ether + 7n).toString() },
    { kind: 'gas', bucket: 'LOSS', amount: '-7' },
  ]);
  expect(await asset()).toMatchObject({ available: 0n, frozenReason: expect.stringContaining('shortfall of 7') as string });
  expect(alerts).toEqual([expect.objectContaining({ alert: 'ledger_shortfall' })]);
  expect(await differences(fixture)).toEqual([]);
});

test('one that was reverted has cost its settler the fee too', async () => {
  const txId = await settling.settleFor(9n, false);
  expect(await findTransaction(asWorker.manager, txId)).toMatchObject({ status: 'FAILED', failureCode: 'reverted_on_chain' });
  expect(await gasOf(txId)).toEqual([expect.objectContaining({ amount: '9', status: 'CONFIRMED' })]);
  expect(await differences(fixture)).toEqual([]);
});

test('a settlement is charged once, and nothing for a fee of zero', async () => {
  expect(await gasOf(await settling.settleFor(0n))).toEqual([]);
  const txId = await settling.settleFor(1n);
  await settling.end(txId);
  await expect(charge(txId, 1n)).rejects.toThrow(/gas_by_parent/);
  expect((await asset()).available).toBe(ether - 1n);
});

describe('in another block after a reorganisation', () => {
  const reconcile = (txId: string) =>
    reconcileReorg(
      { database: asWorker, log: { error: (alert: object) => void alerts.push(alert), warn: () => undefined } },
      { txId },
    );
  const move = async (txId: string, fee: bigint, changes = '') => {
    await fixture.database.query(`update transfer_attempts set block_hash = $2, fee = $3 ${changes} where tx_id = $1`, [
      ...[txId, randomHash(), fee.toString()],
    ]);
    return reconcile(txId);
  };
  const adjustments = async (txId: string) =>
    (await entriesOf(txId)).filter((entry) => (entry as { kind: string }).kind === 'adjustment');

  test('a settler has paid what it costs there', async () => {
    const txId = await settling.settleFor(10n);
    for (const fee of [12n, 12n, 7n]) {
      expect(await move(txId, fee)).toBe('stands');
      expect((await asset()).available).toBe(ether - fee);
      expect(await differences(fixture)).toEqual([]);
    }
    expect(await adjustments(txId)).toEqual([
      { kind: 'adjustment', bucket: 'AVAILABLE', amount: '-2' },
      { kind: 'adjustment', bucket: 'AVAILABLE', amount: '5' },
      { kind: 'adjustment', bucket: 'FEES', amount: '2' },
      { kind: 'adjustment', bucket: 'FEES', amount: '-5' },
    ]);
    expect(alerts).toEqual([]);
  });

  test('nothing while it is in no block, and again once it is in one, also where that is its old one', async () => {
    const txId = await settling.settleFor(10n);
    const contradictions = async () =>
      [...(await findContradictedEnds(asWorker.manager, 'ethereum'))].map(([id, { contradiction }]) => [id, contradiction]);
    const restore = `, block_number = 7, success = true, debited = 5, received = 5, included_id = tx_hash`;
    const clear = async () => {
      const all =
        'block_number = null, block_hash = null, included_id = null, success = null, fee = null, debited = null, received = null, agreed_by = null';
      await fixture.database.query(`update transfer_attempts set ${all} where tx_id = $1`, [txId]);
      expect(await contradictions()).toEqual([[txId, 'block_gone']]);
      for (let times = 1; times <= 2; times += 1) {
        expect(await reconcile(txId)).toBe('absent');
        expect((await asset()).available).toBe(ether);
      }
      expect(await differences(fixture)).toEqual([]);
    };
    await clear();
    expect(await move(txId, 11n, restore)).toBe('stands');
    expect((await asset()).available).toBe(ether - 11n);
    expect(await differences(fixture)).toEqual([]);

    const { blockHash } = await findTransaction(asWorker.manager, txId);
    await clear();
    await fixture.database.query(`update transfer_attempts set block_hash = $2, fee = 11 ${restore} where tx_id = $1`, [
      txId,
      blockHash,
    ]);
    expect(await contradictions()).toEqual([[txId, 'charged_otherwise']]);
    expect(await reconcile(txId)).toBe('stands');
    expect((await asset()).available).toBe(ether - 11n);
    expect([await contradictions(), await differences(fixture)]).toEqual([[], []]);
  });

  test('also where it is reverted there, which is an alert', async () => {
    const txId = await settling.settleFor(10n);
    expect(await move(txId, 3n, ', success = false')).toBe('differs');
    expect((await asset()).available).toBe(ether - 3n);
    expect(alerts).toEqual([{ alert: 'ended_transfer_changed', tx_id: txId }]);
  });

  test('what it does not have for a higher fee is lost by the house, with an alert', async () => {
    const txId = await settling.settleFor(ether);
    expect(await move(txId, ether + 4n)).toBe('stands');
    expect(await asset()).toMatchObject({ available: 0n, frozenReason: expect.stringContaining('shortfall of 4') as string });
    expect(alerts).toEqual([expect.objectContaining({ alert: 'ledger_shortfall' })]);
    expect(await differences(fixture)).toEqual([]);
  });
});

describe('the database refuses', () => {
  const confirm = (gasId: string) => `update transactions set status = 'CONFIRMED', version = 1 where tx_id = '${gasId}'`;
  const postGas = (of: string, ledgerAccountId: string, amount: bigint, to = 'FEES') => {
    const id = newId();
    return [
      `insert into ledger_postings (posting_id, tx_id, kind, seq, entries) values ('${id}', '${of}', 'gas', 1, 2)`,
      `insert into ledger_entries (posting_id, line, ledger_account_id, bucket, chain, symbol, amount) values
         ('${id}', 0, '${ledgerAccountId}', 'AVAILABLE', 'ethereum', 'ETH', -${amount}), ('${id}', 1, null, '${to}', 'ethereum', 'ETH', ${amount})`,
    ];
  };
  const insertGas = (
    gasId: string,
    ledgerAccountId: string,
    { amount = 5n, account = settler, parent = null as string | null } = {},
  ) =>
    `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, parent_tx_id, from_address, to_address,
       token_symbol, decimals, amount, status, required_confirmations)
     values ('${gasId}', '${houseClientId}', '${account.walletId}', '${account.accountId}', '${ledgerAccountId}', 'ethereum', 'GAS',
       ${parent === null ? 'null' : `'${parent}'`}, '0x1', '0x1', 'ETH', 18, ${amount}, 'PENDING', 1)`;
  /** Of an account with its posting, beside nothing that would charge it. */
  const chargeBy = async (parent: string | null, amount = 5n, account = settler) => {
    const { ledgerAccountId } = await ledgerAccountOf(fixture.database, account, ethereum, 'ETH');
    const gasId = newId();
    return [
      insertGas(gasId, ledgerAccountId, { amount, account, parent }),
      confirm(gasId),
      ...postGas(gasId, ledgerAccountId, amount),
    ];
  };
  const run = (statements: string[], database = asWorker) =>
    database.transaction(async (manager) => {
      for (const statement of statements) await manager.query(statement);
    });

  /** Without what the worker would charge for it. */
  const uncharged = async (fee: bigint) => {
    const txId = await settling.accept();
    await settling.execute(txId, fee);
    return {
      txId,
      end: `update transactions t set status = 'CONFIRMED', version = version + 1, tx_hash = a.included_id, block_number = a.block_number,
      block_hash = a.block_hash, fee = a.fee from transfer_attempts a where a.tx_id = t.tx_id and t.tx_id = '${txId}'`,
    };
  };

  test('gas without its posting, with another amount posted, or that leaves the gateway elsewhere', async () => {
    const { ledgerAccountId } = await asset();
    const { txId, end } = await uncharged(5n);
    const gasId = newId();
    const gas = [end, insertGas(gasId, ledgerAccountId, { parent: txId }), confirm(gasId)];
    for (const posted of [[], postGas(gasId, ledgerAccountId, 4n), postGas(gasId, ledgerAccountId, 5n, 'EXTERNAL')])
      await expect(run([...gas, ...posted])).rejects.toThrow(/do not fit its state CONFIRMED/);
    await run([...gas, ...postGas(gasId, ledgerAccountId, 5n)]);
    expect(await differences(fixture)).toEqual([]);
  });

  test('the end of a settlement that is not charged, or with another fee or to another account', async () => {
    const { txId, end } = await uncharged(5n);
    const { account: other } = await buildSettler(fixture.database, ethereum);
    await fundAccount(fixture.database, other, ethereum, 'ETH', ether);
    for (const charged of [[], await chargeBy(txId, 4n), await chargeBy(txId, 6n), await chargeBy(txId, 5n, other)])
      await expect(run([end, ...charged])).rejects.toThrow(/not what it has cost its sender/);
    await run([end, ...(await chargeBy(txId))]);
    expect(await differences(fixture)).toEqual([]);
  });

  test('gas of a settlement that goes on, that has cost nothing, or of nothing at all', async () => {
    const open = await settling.accept();
    for (const parent of [open, await settling.settleFor(0n), null])
      await expect(run(await chargeBy(parent))).rejects.toThrow(/not what it has cost its sender/);
  });

  test('a posting of gas on the settlement itself', async () => {
    const [txId, { ledgerAccountId }] = [await settling.accept(), await asset()];
    await expect(run(postGas(txId, ledgerAccountId, 5n))).rejects.toThrow(/does not belong to the account/);
  });
});

describe('verifying the ledger finds', () => {
  const withoutRules = (sql: string, parameters: unknown[]) =>
    fixture.database.transaction(async (manager) => {
      await manager.query('set local session_replication_role = replica');
      await manager.query(sql, parameters);
    });

  test.each([
    ['gas that is not what was posted', 'amount = 11'],
    ['gas of another account', `account_id = (select account_id from accounts where client_id <> '${houseClientId}' limit 1)`],
    ['gas of no settlement', 'parent_tx_id = null'],
  ])('%s', async (_, change) => {
    const txId = await settling.settleFor(10n);
    const [gas] = await fixture.database.query<[Record<string, string>]>('select * from transactions where parent_tx_id = $1', [
      txId,
    ]);
    await withoutRules(`update transactions set ${change} where tx_id = $1`, [gas.tx_id]);
    const found = await differences(fixture);
    expect(found).toContainEqual(
      expect.objectContaining({ check: 'every settlement is charged to its sender, and nothing else is', subject: txId }),
    );
    await withoutRules('update transactions set amount = $2, account_id = $3, parent_tx_id = $4 where tx_id = $1', [
      ...[gas.tx_id, gas.amount, gas.account_id, gas.parent_tx_id],
    ]);
    expect(await differences(fixture)).toEqual([]);
  });

  test('a fee that is not that of the block', async () => {
    const txId = await settling.settleFor(10n);
    const setFee = (fee: number) => fixture.database.query('update transfer_attempts set fee = $2 where tx_id = $1', [txId, fee]);
    await setFee(12);
    expect(await differences(fixture)).toEqual([
      expect.objectContaining({
        check: 'a settler has paid what the block of its settlement shows',
        expected: '12',
        actual: '10',
      }),
    ]);
    await setFee(10);
  });
});

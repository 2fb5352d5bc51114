import type { DataSource } from 'typeorm';
import { houseClientId } from '../../../src/platform/house';
import { newId } from '../../../src/platform/ids';
import { chargeGas } from '../../../src/settlers/charge-gas';
import { fundAccount, ledgerAccountOf } from '../../factories';
import { openDatabase } from '../../stack/database';
import { buildSettler, claim, claimBy } from '../x402/settlement-fixture';
import { createFixture, differences, ether, ethereum, type Fixture } from './fixture';

/** What a settlement costs its settler. */

let fixture: Fixture;
/** With the login of the worker. */
let asWorker: DataSource;
let settler: Awaited<ReturnType<typeof buildSettler>>['account'];
let alerts: object[];

beforeAll(async () => {
  fixture = await createFixture({ poolSize: 5 });
  const { gateway_worker: url } = await fixture.logins();
  asWorker = await openDatabase(url);
});
beforeEach(async () => {
  alerts = [];
  settler = (await buildSettler(fixture.database, ethereum)).account;
  await fundAccount(fixture.database, settler, ethereum, 'ETH', ether);
});
afterAll(async () => {
  await asWorker.destroy();
  await fixture.close();
});

const settle = () => claim(fixture.database, claimBy(fixture.client.clientId, settler.address));
const charge = (txId: string, fee: bigint) =>
  asWorker.transaction((manager) =>
    chargeGas(manager, { txId, chain: ethereum, account: settler, fee }, { error: (alert: object) => void alerts.push(alert) }),
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
  const txId = await settle();
  await charge(txId, 21_000n);
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
  const txId = await settle();
  await charge(txId, ether + 7n);
  expect(await entriesOf(txId)).toEqual([
    { kind: 'gas', bucket: 'AVAILABLE', amount: (-ether).toString() },
    { kind: 'gas', bucket: 'FEES', amount: (ether + 7n).toString() },
    { kind: 'gas', bucket: 'LOSS', amount: '-7' },
  ]);
  expect(await asset()).toMatchObject({ available: 0n, frozenReason: expect.stringContaining('shortfall of 7') as string });
  expect(alerts).toEqual([expect.objectContaining({ alert: 'ledger_shortfall' })]);
  expect(await differences(fixture)).toEqual([]);
});

test('a settlement is charged once, and nothing for a fee of zero', async () => {
  const txId = await settle();
  await charge(txId, 0n);
  expect(await gasOf(txId)).toEqual([]);
  await charge(txId, 1n);
  await expect(charge(txId, 1n)).rejects.toThrow(/gas_by_parent/);
  expect((await asset()).available).toBe(ether - 1n);
});

describe('the database refuses', () => {
  const insertGas = (txId: string, gasId: string, ledgerAccountId: string) =>
    `insert into transactions (tx_id, client_id, wallet_id, account_id, asset_id, chain, transaction_type, parent_tx_id, from_address, to_address,
       token_symbol, decimals, amount, status, required_confirmations)
     values ('${gasId}', '${houseClientId}', '${settler.walletId}', '${settler.accountId}', '${ledgerAccountId}', 'ethereum', 'GAS', '${txId}',
       '0x1', '0x1', 'ETH', 18, 5, 'PENDING', 1)`;
  const confirm = (gasId: string) => `update transactions set status = 'CONFIRMED', version = 1 where tx_id = '${gasId}'`;
  const postGas = (of: string, ledgerAccountId: string, amount: number, to = 'FEES') => {
    const id = newId();
    return [
      `insert into ledger_postings (posting_id, tx_id, kind, seq, entries) values ('${id}', '${of}', 'gas', 1, 2)`,
      `insert into ledger_entries (posting_id, line, ledger_account_id, bucket, chain, symbol, amount) values
         ('${id}', 0, '${ledgerAccountId}', 'AVAILABLE', 'ethereum', 'ETH', -${amount}), ('${id}', 1, null, '${to}', 'ethereum', 'ETH', ${amount})`,
    ];
  };
  const run = (statements: string[]) =>
    asWorker.transaction(async (manager) => {
      for (const statement of statements) await manager.query(statement);
    });

  test('gas without its posting, with another amount, or that leaves the gateway elsewhere', async () => {
    const [txId, { ledgerAccountId }] = [await settle(), await asset()];
    const gasId = newId();
    const gas = [insertGas(txId, gasId, ledgerAccountId), confirm(gasId)];
    for (const posted of [[], postGas(gasId, ledgerAccountId, 4), postGas(gasId, ledgerAccountId, 5, 'EXTERNAL')])
      await expect(run([...gas, ...posted])).rejects.toThrow(/do not fit its state CONFIRMED/);
    await run([...gas, ...postGas(gasId, ledgerAccountId, 5)]);
    expect(await differences(fixture)).toEqual([]);
  });

  test('a posting of gas on the settlement itself', async () => {
    const [txId, { ledgerAccountId }] = [await settle(), await asset()];
    await expect(run(postGas(txId, ledgerAccountId, 5))).rejects.toThrow(/does not belong to the account/);
  });
});

test('verifying the ledger finds gas that is not what was posted', async () => {
  const txId = await settle();
  await charge(txId, 10n);
  const setAmount = (amount: number) =>
    fixture.database.transaction(async (manager) => {
      await manager.query('set local session_replication_role = replica');
      await manager.query('update transactions set amount = $2 where parent_tx_id = $1', [txId, amount]);
    });
  await setAmount(11);
  expect(await differences(fixture)).toEqual([
    expect.objectContaining({ check: 'gas is posted as the fee that it is', expected: '11', actual: '10' }),
  ]);
  await setAmount(10);
});

import { randomUUID } from 'node:crypto';
import { listAuditLog } from '../../../src/audit/list';
import { confirmDeposits } from '../../../src/deposits/confirm';
import { orphanDeposits } from '../../../src/deposits/orphan';
import { depositAddresses, recordDeposits } from '../../../src/deposits/record';
import type { DepositFound } from '../../../src/chains/types';
import { AssetOperations } from '../../../src/cli/asset-operations';
import { buildDeposit, buildTransferRequest, ledgerAccountOf, randomAddress, randomHash } from '../../factories';
import {
  balances,
  codeOf,
  createFixture,
  differences,
  ether,
  ethereum,
  fund,
  include,
  sign,
  usdc,
  type Fixture,
} from './fixture';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture({ poolSize: 5 });
});
afterEach(async () => {
  expect(await differences(fixture)).toEqual([]);
  await fixture.close();
});

const record = (...found: DepositFound[]) => fixture.database.transaction((manager) => recordDeposits(manager, ethereum, found));
const confirm = (head: number) => fixture.database.transaction((manager) => confirmDeposits(manager, ethereum, head));
const alerts: object[] = [];
const orphan = (from: number) =>
  fixture.database.transaction((manager) =>
    orphanDeposits(manager, ethereum, from, { error: (it: object) => void alerts.push(it) }),
  );
const states = async () =>
  (
    await fixture.database.query<{ status: string }[]>(
      `select status from transactions where transaction_type = 'INBOUND' order by tx_id`,
    )
  ).map(({ status }) => status);

test('what postings have moved is checked without reading the ledger from end to end, also where it was empty when that was planned', async () => {
  const found = Array.from({ length: 20 }, () => buildDeposit(fixture.account, ethereum, 'USDC', usdc, { blockNumber: 100 }));
  const [before, after] = await fixture.database.transaction(async (manager) => {
    await recordDeposits(manager, ethereum, found);
    expect(await confirmDeposits(manager, ethereum, 101)).toBe(found.length);
    const wholeReads = () =>
      manager.query<object[]>(
        `select relname, seq_scan from pg_stat_xact_user_tables where relname in ('ledger_postings', 'ledger_entries') order by relname`,
      );
    const earlier = await wholeReads();
    // the checks of COMMIT
    await manager.query('set constraints all immediate');
    return [earlier, await wholeReads()];
  });
  expect(before).toHaveLength(2);
  expect(after).toEqual(before);
});

test('detected, credited at its depth and not before, once', async () => {
  const found = buildDeposit(fixture.account, ethereum, 'USDC', 5n * usdc, { blockNumber: 100 });
  await record(found);
  await record(found, found);
  expect(await states()).toEqual(['DETECTED']);
  expect(await confirm(100)).toBe(0);
  expect(await balances(fixture, 'USDC')).toEqual([0n, 0n]);
  expect(ethereum.confirmations).toBe(2);
  expect(await confirm(101)).toBe(1);
  expect(await confirm(101)).toBe(0);
  await record(found);
  expect(await states()).toEqual(['CONFIRMED']);
  expect(await balances(fixture, 'USDC')).toEqual([5n * usdc, 0n]);
});

test('a token that was not added is credited all the same and shows when it is added', async () => {
  await record(buildDeposit(fixture.account, ethereum, 'USDT', 7n));
  await confirm(9);
  expect(await balances(fixture, 'USDT')).toEqual([7n, 0n]);
});

test('several in one receipt, in any letter case; unknown addresses, unknown tokens and zero amounts are left out', async () => {
  const txHash = randomHash();
  await record(
    buildDeposit(fixture.account, ethereum, 'USDC', 1n, { txHash, position: '1' }),
    buildDeposit(fixture.account, ethereum, 'USDC', 2n, {
      txHash,
      position: '2',
      toAddress: fixture.account.address.toLowerCase(),
    }),
    buildDeposit(fixture.account, ethereum, 'USDC', 4n, { toAddress: randomAddress() }),
    buildDeposit(fixture.account, ethereum, 'USDC', 8n, { tokenContract: randomAddress() }),
    buildDeposit(fixture.account, ethereum, 'USDC', 0n),
  );
  expect(await confirm(9)).toBe(2);
  expect(await balances(fixture, 'USDC')).toEqual([3n, 0n]);
});

test('found again in another block before it was credited: it moves there', async () => {
  const found = buildDeposit(fixture.account, ethereum, 'USDC', 1n, { blockNumber: 100 });
  await record(found);
  await record({ ...found, blockNumber: 105, blockHash: randomHash() });
  expect(await confirm(105)).toBe(0);
  expect(await confirm(106)).toBe(1);
});

test('orphaned before and after it was credited, and credited again when found again', async () => {
  const early = buildDeposit(fixture.account, ethereum, 'USDC', 1n, { blockNumber: 10 });
  const late = buildDeposit(fixture.account, ethereum, 'USDC', 2n, { blockNumber: 12 });
  await record(early, late);
  await confirm(11);
  await orphan(10);
  expect(await states()).toEqual(['ORPHANED', 'ORPHANED']);
  expect(await balances(fixture, 'USDC')).toEqual([0n, 0n]);
  await record({ ...early, blockNumber: 11 }, late);
  await confirm(20);
  expect(await balances(fixture, 'USDC')).toEqual([3n, 0n]);
  await orphan(21);
  expect(await balances(fixture, 'USDC')).toEqual([3n, 0n]);
  expect(alerts).toEqual([]);
});

test('orphaned after it was spent: the house’s loss, one account frozen, one alert each', async () => {
  await fund(fixture, 'ETH', ether);
  const found = [3n, 4n].map((amount) => buildDeposit(fixture.account, ethereum, 'USDC', amount * usdc, { blockNumber: 50 }));
  await record(...found);
  await confirm(60);
  const request = buildTransferRequest(fixture.account, ethereum, { tokenSymbol: 'USDC', amount: '5' });
  await fixture.ledger.lockTransfer(request);
  await sign(fixture, request.txId);
  await orphan(50);
  // the locked amount stays locked: it is signed
  expect(await balances(fixture, 'USDC')).toEqual([0n, 5n * usdc]);
  const [loss] = await fixture.database.query<{ sum: string }[]>(`select sum(amount) from ledger_entries where bucket = 'LOSS'`);
  expect(loss?.sum).toBe((-5n * usdc).toString());
  expect(alerts.length).toBeGreaterThan(0);
  expect(
    await codeOf(fixture.ledger.lockTransfer(buildTransferRequest(fixture.account, ethereum, { tokenSymbol: 'USDC' }))),
  ).toBe('business_error');
  await include(fixture, request.txId, 1, { debited: 5n * usdc });
  expect((await fixture.ledger.settleTransfer({ txId: request.txId })).status).toBe('CONFIRMED');
});

test('frozen until an operator unfreezes it, which is audited', async () => {
  await fund(fixture, 'ETH', ether);
  await record(buildDeposit(fixture.account, ethereum, 'USDC', 3n * usdc, { blockNumber: 50 }));
  await confirm(60);
  const make = () =>
    fixture.ledger.lockTransfer(buildTransferRequest(fixture.account, ethereum, { tokenSymbol: 'USDC', amount: '3' }));
  await make();
  await orphan(50);
  await fund(fixture, 'USDC', 5n * usdc);
  const { ledgerAccountId } = await ledgerAccountOf(fixture.database, fixture.account, ethereum, 'USDC');
  const operations = new AssetOperations(fixture.database);
  expect(await codeOf(make())).toBe('business_error');

  const { frozenReason } = await operations.unfreeze(ledgerAccountId);
  expect(frozenReason).toMatch(/^shortfall of 3000000 atomic units of USDC/);
  expect((await make()).status).toBe('PENDING');
  const [row] = await listAuditLog(fixture.database.manager, { action: 'asset.unfrozen', limit: 2 });
  expect(row).toMatchObject({
    outcome: 'success',
    actor_type: 'operator',
    client_id: fixture.client.clientId,
    subject_type: 'asset',
    subject_id: ledgerAccountId,
    detail: { account_id: fixture.account.accountId, chain: 'ethereum', symbol: 'USDC', reason: frozenReason },
  });

  expect(await codeOf(operations.unfreeze(ledgerAccountId))).toBe('business_error');
  expect(await codeOf(operations.unfreeze(randomUUID()))).toBe('not_found');
  expect(await codeOf(operations.unfreeze('nope'))).toBe('not_found');
  expect(await listAuditLog(fixture.database.manager, { action: 'asset.unfrozen', limit: 2 })).toHaveLength(1);
});

test('orphaned after it was spent and found again: the loss of the house is repaid and the client is not credited twice', async () => {
  await fund(fixture, 'ETH', ether);
  const found = buildDeposit(fixture.account, ethereum, 'USDC', 7n * usdc, { blockNumber: 50 });
  await record(found);
  await confirm(60);
  const request = buildTransferRequest(fixture.account, ethereum, { tokenSymbol: 'USDC', amount: '5' });
  await fixture.ledger.lockTransfer(request);
  await sign(fixture, request.txId);
  await include(fixture, request.txId, 1, { debited: 5n * usdc });
  await fixture.ledger.settleTransfer({ txId: request.txId });
  const losses = async () =>
    (await fixture.database.query<{ sum: string }[]>(`select sum(amount) from ledger_entries where bucket = 'LOSS'`))[0]?.sum;
  const { ledgerAccountId } = await ledgerAccountOf(fixture.database, fixture.account, ethereum, 'USDC');
  for (const block of [51, 52, 53]) {
    await orphan(50);
    expect([await balances(fixture, 'USDC'), await losses()]).toEqual([[0n, 0n], (-5n * usdc).toString()]);
    // whatever an operator thinks of the account meanwhile
    if (block === 53) await new AssetOperations(fixture.database).unfreeze(ledgerAccountId);
    await record({ ...found, blockNumber: block, blockHash: randomHash() });
    await confirm(block + 10);
    expect([await balances(fixture, 'USDC'), await losses()]).toEqual([[2n * usdc, 0n], '0']);
  }
});

test('a transfer between two accounts of the gateway is one OUTBOUND and one INBOUND of the same hash', async () => {
  await fund(fixture, 'ETH', 2n * ether);
  const request = buildTransferRequest(fixture.account, ethereum);
  await fixture.ledger.lockTransfer(request);
  const txHash = await sign(fixture, request.txId);
  await include(fixture, request.txId, 1, { debited: ether });
  await fixture.ledger.settleTransfer({ txId: request.txId });
  await record(
    buildDeposit(fixture.account, ethereum, 'ETH', ether, { txHash, blockNumber: 30, fromAddress: fixture.account.address }),
  );
  await confirm(40);
  const rows = await fixture.database.query<{ transaction_type: string }[]>(
    'select transaction_type from transactions where tx_hash = $1 order by 1',
    [txHash],
  );
  expect(rows.map((it) => it.transaction_type)).toEqual(['INBOUND', 'OUTBOUND']);
});

test('more than one batch', async () => {
  const many = Array.from({ length: 1201 }, () => buildDeposit(fixture.account, ethereum, 'USDC', 1n));
  await record(...many);
  expect([await confirm(9), await confirm(9), await confirm(9), await confirm(9)]).toEqual([500, 500, 201, 0]);
  expect(await balances(fixture, 'USDC')).toEqual([1201n, 0n]);
  await orphan(1);
  expect(await balances(fixture, 'USDC')).toEqual([0n, 0n]);
});

test('finds the addresses of the gateway', async () => {
  const ours = fixture.account.addressKey;
  expect(await depositAddresses(fixture.database.manager, 'evm', [ours, randomAddress().toLowerCase()])).toEqual(new Set([ours]));
  expect(await depositAddresses(fixture.database.manager, 'evm', [])).toEqual(new Set());
});

import { randomUUID } from 'node:crypto';
import { listAuditLog } from '../../../src/audit/list';
import { confirmDeposits, depositAddresses, orphanDeposits, recordDeposits } from '../../../src/deposits/service';
import type { DepositFound } from '../../../src/chains/types';
import { AssetOperations } from '../../../src/cli/asset-operations';
import { buildDeposit, buildTransferRequest, ledgerAccountOf, randomAddress, randomHash } from '../../factories';
import { balances, codeOf, createBench, differences, ether, ethereum, fund, include, sign, usdc, type Bench } from './fixture';

let bench: Bench;
beforeEach(async () => {
  bench = await createBench({ poolSize: 5 });
});
afterEach(async () => {
  expect(await differences(bench)).toEqual([]);
  await bench.close();
});

const record = (...found: DepositFound[]) => bench.database.transaction((manager) => recordDeposits(manager, ethereum, found));
const confirm = (head: number) => bench.database.transaction((manager) => confirmDeposits(manager, ethereum, head));
const alerts: object[] = [];
const orphan = (from: number) =>
  bench.database.transaction((manager) =>
    orphanDeposits(manager, ethereum, from, { error: (it: object) => void alerts.push(it) }),
  );
const states = async () =>
  (
    await bench.database.query<{ status: string }[]>(
      `select status from transactions where transaction_type = 'INBOUND' order by tx_id`,
    )
  ).map(({ status }) => status);

test('detected, credited at its depth and not before, once', async () => {
  const found = buildDeposit(bench.account, ethereum, 'USDC', 5n * usdc, { blockNumber: 100 });
  await record(found);
  await record(found, found);
  expect(await states()).toEqual(['DETECTED']);
  expect(await confirm(100)).toBe(0);
  expect(await balances(bench, 'USDC')).toEqual([0n, 0n]);
  expect(ethereum.confirmations).toBe(2);
  expect(await confirm(101)).toBe(1);
  expect(await confirm(101)).toBe(0);
  await record(found);
  expect(await states()).toEqual(['CONFIRMED']);
  expect(await balances(bench, 'USDC')).toEqual([5n * usdc, 0n]);
});

test('a token that was not added is credited all the same and shows when it is added', async () => {
  await record(buildDeposit(bench.account, ethereum, 'USDT', 7n));
  await confirm(9);
  expect(await balances(bench, 'USDT')).toEqual([7n, 0n]);
});

test('several in one receipt, in any letter case; strangers, unknown tokens and nothing are left out', async () => {
  const txHash = randomHash();
  await record(
    buildDeposit(bench.account, ethereum, 'USDC', 1n, { txHash, position: '1' }),
    buildDeposit(bench.account, ethereum, 'USDC', 2n, { txHash, position: '2', toAddress: bench.account.address.toLowerCase() }),
    buildDeposit(bench.account, ethereum, 'USDC', 4n, { toAddress: randomAddress() }),
    buildDeposit(bench.account, ethereum, 'USDC', 8n, { tokenContract: randomAddress() }),
    buildDeposit(bench.account, ethereum, 'USDC', 0n),
  );
  expect(await confirm(9)).toBe(2);
  expect(await balances(bench, 'USDC')).toEqual([3n, 0n]);
});

test('found again in another block before it was credited: it moves there', async () => {
  const found = buildDeposit(bench.account, ethereum, 'USDC', 1n, { blockNumber: 100 });
  await record(found);
  await record({ ...found, blockNumber: 105, blockHash: randomHash() });
  expect(await confirm(105)).toBe(0);
  expect(await confirm(106)).toBe(1);
});

test('orphaned before and after it was credited, and credited again when found again', async () => {
  const early = buildDeposit(bench.account, ethereum, 'USDC', 1n, { blockNumber: 10 });
  const late = buildDeposit(bench.account, ethereum, 'USDC', 2n, { blockNumber: 12 });
  await record(early, late);
  await confirm(11);
  await orphan(10);
  expect(await states()).toEqual(['ORPHANED', 'ORPHANED']);
  expect(await balances(bench, 'USDC')).toEqual([0n, 0n]);
  await record({ ...early, blockNumber: 11 }, late);
  await confirm(20);
  expect(await balances(bench, 'USDC')).toEqual([3n, 0n]);
  await orphan(21);
  expect(await balances(bench, 'USDC')).toEqual([3n, 0n]);
  expect(alerts).toEqual([]);
});

test('orphaned after it was spent: the house’s loss, one account frozen, one alert each', async () => {
  await fund(bench, 'ETH', ether);
  const found = [3n, 4n].map((amount) => buildDeposit(bench.account, ethereum, 'USDC', amount * usdc, { blockNumber: 50 }));
  await record(...found);
  await confirm(60);
  const request = buildTransferRequest(bench.account, ethereum, { tokenSymbol: 'USDC', amount: '5' });
  await bench.ledger.lockTransfer(request);
  await orphan(50);
  // locked stays locked: it is signed soon
  expect(await balances(bench, 'USDC')).toEqual([0n, 5n * usdc]);
  const [loss] = await bench.database.query<{ sum: string }[]>(`select sum(amount) from ledger_entries where bucket = 'LOSS'`);
  expect(loss?.sum).toBe((-5n * usdc).toString());
  expect(alerts.length).toBeGreaterThan(0);
  expect(await codeOf(bench.ledger.lockTransfer(buildTransferRequest(bench.account, ethereum, { tokenSymbol: 'USDC' })))).toBe(
    'business_error',
  );
  await sign(bench, request.txId);
  await include(bench, request.txId, 1, { debited: 5n * usdc });
  expect((await bench.ledger.settleTransfer({ txId: request.txId })).status).toBe('CONFIRMED');
});

test('frozen until an operator has looked: unfreezing lets transfers leave again, once, and is audited', async () => {
  await fund(bench, 'ETH', ether);
  await record(buildDeposit(bench.account, ethereum, 'USDC', 3n * usdc, { blockNumber: 50 }));
  await confirm(60);
  const make = () =>
    bench.ledger.lockTransfer(buildTransferRequest(bench.account, ethereum, { tokenSymbol: 'USDC', amount: '3' }));
  await make();
  await orphan(50);
  await fund(bench, 'USDC', 5n * usdc);
  const { ledgerAccountId } = await ledgerAccountOf(bench.database, bench.account, ethereum, 'USDC');
  const operations = new AssetOperations(bench.database);
  expect(await codeOf(make())).toBe('business_error');

  const { frozenReason } = await operations.unfreeze(ledgerAccountId);
  expect(frozenReason).toMatch(/^shortfall of 3000000 atomic units of USDC/);
  expect((await make()).status).toBe('PENDING');
  const [row] = await listAuditLog(bench.database.manager, { action: 'asset.unfrozen', limit: 2 });
  expect(row).toMatchObject({
    outcome: 'success',
    actor_type: 'operator',
    client_id: bench.client.clientId,
    subject_type: 'asset',
    subject_id: ledgerAccountId,
    detail: { account_id: bench.account.accountId, chain: 'ethereum', symbol: 'USDC', reason: frozenReason },
  });

  expect(await codeOf(operations.unfreeze(ledgerAccountId))).toBe('business_error');
  expect(await codeOf(operations.unfreeze(randomUUID()))).toBe('not_found');
  expect(await codeOf(operations.unfreeze('nope'))).toBe('not_found');
  expect(await listAuditLog(bench.database.manager, { action: 'asset.unfrozen', limit: 2 })).toHaveLength(1);
});

test('orphaned after it was spent and found again: the house gets its loss back, not the client the money twice', async () => {
  await fund(bench, 'ETH', ether);
  const found = buildDeposit(bench.account, ethereum, 'USDC', 7n * usdc, { blockNumber: 50 });
  await record(found);
  await confirm(60);
  const request = buildTransferRequest(bench.account, ethereum, { tokenSymbol: 'USDC', amount: '5' });
  await bench.ledger.lockTransfer(request);
  await sign(bench, request.txId);
  await include(bench, request.txId, 1, { debited: 5n * usdc });
  await bench.ledger.settleTransfer({ txId: request.txId });
  const losses = async () =>
    (await bench.database.query<{ sum: string }[]>(`select sum(amount) from ledger_entries where bucket = 'LOSS'`))[0]?.sum;
  for (const block of [51, 52]) {
    await orphan(50);
    expect([await balances(bench, 'USDC'), await losses()]).toEqual([[0n, 0n], (-5n * usdc).toString()]);
    await record({ ...found, blockNumber: block, blockHash: randomHash() });
    await confirm(block + 10);
    expect([await balances(bench, 'USDC'), await losses()]).toEqual([[2n * usdc, 0n], '0']);
  }
});

test('a transfer between two accounts of ours is one OUTBOUND and one INBOUND of the same hash', async () => {
  await fund(bench, 'ETH', 2n * ether);
  const request = buildTransferRequest(bench.account, ethereum);
  await bench.ledger.lockTransfer(request);
  const txHash = await sign(bench, request.txId);
  await include(bench, request.txId, 1, { debited: ether });
  await bench.ledger.settleTransfer({ txId: request.txId });
  await record(
    buildDeposit(bench.account, ethereum, 'ETH', ether, { txHash, blockNumber: 30, fromAddress: bench.account.address }),
  );
  await confirm(40);
  const rows = await bench.database.query<{ transaction_type: string }[]>(
    'select transaction_type from transactions where tx_hash = $1 order by 1',
    [txHash],
  );
  expect(rows.map((it) => it.transaction_type)).toEqual(['INBOUND', 'OUTBOUND']);
});

test('more than one batch', async () => {
  const many = Array.from({ length: 1201 }, () => buildDeposit(bench.account, ethereum, 'USDC', 1n));
  await record(...many);
  expect([await confirm(9), await confirm(9), await confirm(9), await confirm(9)]).toEqual([500, 500, 201, 0]);
  expect(await balances(bench, 'USDC')).toEqual([1201n, 0n]);
  await orphan(1);
  expect(await balances(bench, 'USDC')).toEqual([0n, 0n]);
});

test('which addresses are ours', async () => {
  const ours = bench.account.addressKey;
  expect(await depositAddresses(bench.database.manager, 'evm', [ours, randomAddress().toLowerCase()])).toEqual(new Set([ours]));
  expect(await depositAddresses(bench.database.manager, 'evm', [])).toEqual(new Set());
});

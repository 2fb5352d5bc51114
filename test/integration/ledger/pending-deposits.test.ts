import type { PendingDeposit } from '../../../src/chains/types';
import { confirmDeposits } from '../../../src/deposits/confirm';
import { orphanDeposits } from '../../../src/deposits/orphan';
import { endPendingDeposits, findPendingHashes, recordPendingDeposits } from '../../../src/deposits/pending';
import { recordDeposits } from '../../../src/deposits/record';
import { buildAccount, buildDeposit } from '../../factories';
import { balances, createFixture, differences, ethereum, type Fixture } from './fixture';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture({ poolSize: 5 });
});
afterEach(async () => {
  expect(await differences(fixture)).toEqual([]);
  await fixture.close();
});

const limits = { atOnce: { account: 3, chain: 5 }, perDay: { account: 5, chain: 8 } };
const build = (count: number, account = fixture.account): PendingDeposit[] =>
  Array.from({ length: count }, () => {
    const { txHash, position, fromAddress, toAddress, tokenContract, amount } = buildDeposit(account, ethereum, 'USDC', 7n);
    return { txHash, position, fromAddress, toAddress, tokenContract, amount };
  });
const record = (found: PendingDeposit[]) =>
  fixture.database.transaction((manager) => recordPendingDeposits(manager, ethereum, found, { limits }));
const end = (found: PendingDeposit[]) =>
  endPendingDeposits(
    fixture.database.manager,
    ethereum.name,
    found.map(({ txHash }) => txHash),
  );
const count = async (where = 'true') => {
  const [row] = await fixture.database.query<{ count: number }[]>(
    `select count(*)::int from transactions where direction = 'in' and ${where}`,
  );
  return row?.count;
};
const open = () => count(`status = 'DETECTED'`);

test('are stored once, are never credited without a block, and keep their row when they get one', async () => {
  const [found] = build(1) as [PendingDeposit];
  await record([found, found]);
  await record([found]);
  expect(await findPendingHashes(fixture.database.manager, ethereum.name)).toEqual([found.txHash]);
  await fixture.database.transaction((manager) => confirmDeposits(manager, ethereum, 1_000_000));
  await fixture.database.transaction((manager) => orphanDeposits(manager, ethereum, 0));
  expect(await open()).toBe(1);
  const block = { blockNumber: 100, blockHash: '0xab' };
  await fixture.database.transaction((manager) => recordDeposits(manager, ethereum, [{ ...found, ...block }]));
  expect(await findPendingHashes(fixture.database.manager, ethereum.name)).toEqual([]);
  // late news of the pool change nothing, and end nothing that a block holds
  await record([found]);
  await end([found]);
  expect(await count(`block_number = 100 and status = 'DETECTED'`)).toBe(1);
  await fixture.database.transaction((manager) => confirmDeposits(manager, ethereum, 200));
  expect(await balances(fixture, 'USDC')).toEqual([7n, 0n]);
});

test('the database refuses to credit one without a block, and one without a transaction', async () => {
  await record(build(1));
  await expect(
    fixture.database.query(`update transactions set status = 'CONFIRMED', version = version + 1 where direction = 'in'`),
  ).rejects.toThrow(/deposit_credited_in_block/);
  await expect(fixture.database.query(`update transactions set tx_hash = null where direction = 'in'`)).rejects.toThrow(
    /deposit_has_transaction/,
  );
});

test('are limited for an account and for the chain, at once and in a day', async () => {
  const other = await buildAccount(fixture.database, fixture.wallet, ethereum);
  const first = build(4);
  await record(first);
  expect(await open()).toBe(3);
  await record(build(4, other));
  expect(await open()).toBe(5);
  // those that have ended make room, until the account has had five and the chain eight
  await end(first);
  await record(build(4));
  expect(await count(`account_id = '${fixture.account.accountId}'`)).toBe(5);
  await end(await pending());
  await record([...build(4), ...build(4, other)]);
  expect(await count()).toBe(8);
});

/** Those that are open. */
const pending = async () =>
  (await findPendingHashes(fixture.database.manager, ethereum.name)).map((txHash) => ({
    ...(build(1)[0] as PendingDeposit),
    txHash,
  }));

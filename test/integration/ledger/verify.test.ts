import type { LedgerDifference } from '../../../src/ledger/compare-with-chain';
import { verifyLedger } from '../../../src/ledger/verify';
import { buildDeposit, buildTransferRequest } from '../../factories';
import { recordDeposits } from '../../../src/deposits/record';
import { createFixture, ether, ethereum, fund, include, sign, usdc, type Fixture } from './fixture';

/** The rules prevent these differences; an operator or a restored backup can bypass them. */

let fixture: Fixture;
let settled: string;
let open: string;
beforeAll(async () => {
  fixture = await createFixture({ poolSize: 3 });
  await fund(fixture, 'ETH', 10n * ether);
  await fund(fixture, 'USDC', 100n * usdc);
  const make = async () => {
    const request = buildTransferRequest(fixture.account, ethereum, { tokenSymbol: 'USDC' });
    await fixture.ledger.lockTransfer(request);
    await sign(fixture, request.txId);
    return request.txId;
  };
  settled = await make();
  await include(fixture, settled, 1, { debited: usdc });
  await fixture.ledger.settleTransfer({ txId: settled });
  open = await make();
});
afterAll(() => fixture.close());

/** Result of verify after the statement was run without triggers; rolled back afterwards. */
async function afterwards(statement: string): Promise<string[]> {
  const found: LedgerDifference[] = [];
  const undone = new Error('undone');
  await fixture.database
    .transaction('REPEATABLE READ', async (manager) => {
      await manager.query(`set local session_replication_role = 'replica'`);
      await manager.query(statement);
      found.push(...(await verifyLedger(manager)));
      throw undone;
    })
    .catch((error: unknown) => {
      if (error !== undone) throw error;
    });
  return [...new Set(found.map(({ check }) => check))];
}

test('finds no difference in a correct ledger', async () => {
  expect(await verifyLedger(fixture.database.manager)).toEqual([]);
});

test.each([
  [`update ledger_accounts set available = available + 1 where symbol = 'USDC'`, ['balances are the sums of their entries']],
  [
    `update ledger_accounts set locked = locked + 1 where symbol = 'ETH'`,
    ['balances are the sums of their entries', 'locked balances are what open transfers hold'],
  ],
  [
    `update ledger_entries set amount = amount + 1 where bucket = 'FEES'`,
    ['every posting sums to zero', 'the fee of a transfer is posted'],
  ],
  [
    `delete from ledger_postings where kind = 'settle'`,
    expect.arrayContaining(['every transaction has the postings of its state']),
  ],
  [`delete from reservations`, ['attempts use what their transaction has reserved']],
  [`delete from attempt_reservations`, ['every reservation is used by an attempt']],
  [`delete from transfer_attempts`, expect.arrayContaining(['a transaction has attempts exactly when signing has begun'])],
  [
    `update transactions set status = 'FAILED' where status = 'CONFIRMED' and is_held`,
    expect.arrayContaining(['every transaction has the postings of its state']),
  ],
  [
    `update transactions set ended_at = now() where ended_at is null`,
    expect.arrayContaining([
      'locked balances are what open transfers hold',
      'ended transactions hold nothing, open ones what they say',
    ]),
  ],
  [`update transactions set amount = amount + 1 where direction = 'in'`, ['what left and arrived is what the chain showed']],
  [`delete from transaction_events`, ['the timeline ends with the state']],
  [`update ledger_entries set chain = 'base'`, expect.arrayContaining(['entries belong to the account of their transaction'])],
])('finds: %s', async (statement, checks) => {
  expect(await afterwards(statement)).toEqual(checks);
});

test('compares with the chain, allowing for amounts that are not settled or credited yet', async () => {
  await include(fixture, open, 1, { debited: usdc, fee: 500n });
  await recordDeposits(fixture.database.manager, ethereum, [buildDeposit(fixture.account, ethereum, 'USDC', 3n)]);
  const [fees] = await fixture.database.query<{ sum: string }[]>('select sum(fee) from transfer_attempts');
  const onChain: Record<string, bigint> = { ETH: 10n * ether - BigInt(fees?.sum ?? 0), USDC: 98n * usdc + 3n };
  const balanceOnChain =
    (extra: bigint) =>
    ({ symbol }: { symbol: string }) =>
      Promise.resolve((onChain[symbol] ?? 0n) + extra);
  expect(await verifyLedger(fixture.database.manager, { balanceOnChain: balanceOnChain(0n) })).toEqual([]);
  const found = await verifyLedger(fixture.database.manager, { balanceOnChain: balanceOnChain(1n) });
  expect(found.map(({ expected, actual }) => BigInt(actual) - BigInt(expected))).toEqual([1n, 1n]);
  expect(await verifyLedger(fixture.database.manager, { balanceOnChain: () => Promise.resolve(null) })).toEqual([]);
});

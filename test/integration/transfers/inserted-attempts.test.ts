import type { DataSource } from 'typeorm';
import { parseTransaction } from 'viem';
import { ChainRegistry } from '../../../src/chains/registry';
import type { AttemptKind, Hex } from '../../../src/chains/types';
import { recordAbandonRequest, withdrawAbandonRequest } from '../../../src/transfers/operate/operator-requests';
import { type Inserted, insertAttemptRows, raiseFee } from '../../inserted-attempts';
import { createTestLedger } from '../../ledger';
import { signRefusal } from '../../node-refusals';
import { openDatabase } from '../../stack/database';
import { ether, ethereum, type EvmFees, type Fixture, prepared } from '../ledger/fixture';
import { listAddress, setPolicy, unlist } from '../screening/factors';
import { useFundedFixture } from './fixture';

/** Somebody has the authoriser's login and not its key: attempts that it inserts are ordered only if an authoriser could have begun them. */

let fixture: Fixture;
let login: DataSource;
const { row, locked } = useFundedFixture((it) => (fixture = it));
beforeEach(async () => {
  login = await openDatabase((await fixture.logins()).gateway_authoriser);
});
afterEach(() => login.destroy());

const eth = { tokenSymbol: 'ETH', amount: '0.001' };
const insert = (inserted: Omit<Inserted, 'prepared'>, fees: Partial<EvmFees> = {}) =>
  insertAttemptRows(login, ethereum, { ...inserted, prepared: prepared({ gasLimit: 21_000n, ...fees }) });
const resume = (txId: string, lastAttempt: number) => fixture.ledger.beginSigning({ txId, lastAttempt, kind: 'resume' });
const ask = (txId: string, lastAttempt: number, kind: AttemptKind, fees: Partial<EvmFees> = {}) =>
  fixture.ledger.beginSigning({ txId, lastAttempt, kind, prepared: prepared({ gasLimit: 21_000n, ...fees }) });
/** Fees that replace those of the attempt before. */
const higher = (attempt: number): Partial<EvmFees> => ({
  maxFeePerGas: (2_000_000_000n * 12n ** BigInt(attempt)) / 10n ** BigInt(attempt),
});
const ordersOf = (txId: string) => fixture.database.query<unknown[]>('select from orders where tx_id = $1', [txId]);
const begun = async () => {
  const txId = await locked(eth);
  expect(await ask(txId, 0, 'first')).toMatchObject({ outcome: 'begun' });
  return txId;
};
const notCancellable = { outcome: 'refused', code: 'not_cancellable' };

describe('a cancellation that it inserts', () => {
  const cancelled = async (refused = notCancellable) => {
    const txId = await begun();
    await insert({ txId, attempt: 2, kind: 'cancellation' }, higher(1));
    expect(await resume(txId, 2)).toMatchObject(refused);
    return txId;
  };

  test('is ordered for no reason that is not on record, nor is one after it', async () => {
    const txId = await cancelled();
    expect(await ask(txId, 2, 'cancellation', higher(2))).toMatchObject(notCancellable);
    await insert({ txId, attempt: 3, kind: 'cancellation' }, higher(2));
    expect(await resume(txId, 3)).toMatchObject(notCancellable);
    expect(await ordersOf(txId)).toHaveLength(1);
  });

  test('is not made good by what it writes itself: a list, refusals of nodes, the time', async () => {
    const txId = await cancelled();
    const giveUpAs = (reason: string) =>
      login.query('update transactions set cancellation_reason = $2 where tx_id = $1', [txId, reason]);
    await expect(giveUpAs('address_blacklisted')).rejects.toThrow('its destination is not listed');
    const forged = ([1, 2] as const).map((node) => signRefusal(node, { tx_id: txId, attempt: 1 }, { by: 3 }));
    for (const [at, { text, signature }] of forged.entries())
      await login.query('insert into node_refusals values ($1, 1, $2, $3, $4)', [txId, at + 1, text, signature]);
    await giveUpAs('node_policy');
    expect(await resume(txId, 2)).toMatchObject(notCancellable);
    expect(await ordersOf(txId)).toHaveLength(1);
  });

  test('is not made good by a request that was withdrawn before, whatever time the row says', async () => {
    const txId = await begun();
    const request = { txId, attempt: 1, operator: 'somebody' };
    await recordAbandonRequest(fixture.database.manager, request);
    const [{ at }] = (await fixture.database.query<{ at: Date }[]>('select clock_timestamp() as at')) as [{ at: Date }];
    await withdrawAbandonRequest(fixture.database.manager, request);
    await insert({ txId, attempt: 2, kind: 'cancellation' }, higher(1));
    const [stored] = await fixture.database.query<{ signing_begun_at: Date }[]>(
      'select signing_begun_at from transfer_attempts where tx_id = $1 and attempt = 2',
      [txId],
    );
    expect(stored?.signing_begun_at.getTime()).toBeGreaterThanOrEqual(at.getTime());
    expect(await resume(txId, 2)).toMatchObject(notCancellable);
  });

  test('is ordered once an operator who knows it asks for it', async () => {
    const txId = await cancelled();
    await recordAbandonRequest(fixture.database.manager, { txId, attempt: 2, operator: 'somebody' });
    expect(await resume(txId, 2)).toMatchObject({ outcome: 'begun', kind: 'cancellation' });
  });
});

describe('a cancellation that the authoriser has begun goes on', () => {
  test('whatever the operator asks for later', async () => {
    const txId = await begun();
    const request = { txId, attempt: 1, operator: 'somebody' };
    await recordAbandonRequest(fixture.database.manager, request);
    expect(await ask(txId, 1, 'cancellation', higher(1))).toMatchObject({ outcome: 'begun' });
    await withdrawAbandonRequest(fixture.database.manager, request);
    expect(await resume(txId, 2)).toMatchObject({ outcome: 'begun', kind: 'cancellation' });
    expect(await ask(txId, 2, 'cancellation', higher(2))).toMatchObject({ outcome: 'begun', attempt: 3 });
  });

  test('whatever the lists say later', async () => {
    const txId = await begun();
    const factorId = await listAddress(fixture.database, fixture.account, (await row(txId)).toAddress);
    expect(await ask(txId, 1, 'cancellation', higher(1))).toMatchObject({ outcome: 'begun' });
    await unlist(fixture.database, factorId);
    expect(await resume(txId, 2)).toMatchObject({ outcome: 'begun', kind: 'cancellation' });
    expect(await ask(txId, 2, 'cancellation', higher(2))).toMatchObject({ outcome: 'begun', attempt: 3 });
  });

  test('by the refusals of two nodes, also after another one', async () => {
    const txId = await begun();
    const refusals = ([1, 2] as const).map((node) => signRefusal(node, { tx_id: txId, attempt: 1 }));
    expect(await fixture.ledger.recordNodeRefusals({ txId, refusals })).toEqual({ accepted: true });
    for (const attempt of [2, 3]) {
      expect(await ask(txId, attempt - 1, 'cancellation', higher(attempt))).toMatchObject({ outcome: 'begun' });
      expect(await resume(txId, attempt)).toMatchObject({ outcome: 'begun', attempt });
    }
  });
});

describe('a fee that it inserts is not ordered', () => {
  test('above what is locked for it', async () => {
    const txId = await begun();
    const fee = (await row(txId)).feeLocked;
    await insert({ txId, attempt: 2, kind: 'replacement' }, { maxFeePerGas: fee / 21_000n + 1n });
    expect(await resume(txId, 2)).toMatchObject({ outcome: 'refused', code: 'fee_above_bound' });
    expect(await ordersOf(txId)).toHaveLength(1);
  });

  test('above the absolute cap of the chain, although it has locked enough', async () => {
    const txId = await begun();
    const price = ethereum.maxNetworkFee / 21_000n + 1n;
    await raiseFee(login, txId, ether, 2);
    await insert({ txId, attempt: 2, kind: 'replacement' }, { maxFeePerGas: price });
    expect(await resume(txId, 2)).toMatchObject({ outcome: 'refused', code: 'fee_above_bound' });
    expect(await ordersOf(txId)).toHaveLength(1);
  });

  test('as less than the bytes may cost', async () => {
    const txId = await begun();
    const { details } = prepared({ gasLimit: 21_000n, ...higher(1) });
    await insertAttemptRows(login, ethereum, {
      ...{ txId, attempt: 2, kind: 'replacement' },
      prepared: { feeBound: '1', expiry: null, details },
    });
    await expect(resume(txId, 2)).rejects.toThrow(/their bound is 1/);
    expect(await ordersOf(txId)).toHaveLength(1);
  });
});

test('a fee of up to the cap of the chain can be ordered, and an attempt replaced early', async () => {
  const txId = await begun();
  const patient = createTestLedger({
    database: fixture.database,
    registry: new ChainRegistry([{ ...ethereum, stuckAfterMs: 3_600_000 }]),
  });
  const fees = { maxFeePerGas: ethereum.maxNetworkFee / 21_000n };
  await raiseFee(login, txId, ethereum.maxNetworkFee, 2);
  await insert({ txId, attempt: 2, kind: 'replacement' }, fees);
  expect(await patient.beginSigning({ txId, lastAttempt: 2, kind: 'resume' })).toMatchObject({ outcome: 'begun', attempt: 2 });
});

test('a replacement after five others is not ordered', async () => {
  const txId = await begun();
  for (let attempt = 2; attempt <= 6; attempt += 1)
    expect(await ask(txId, attempt - 1, 'replacement', higher(attempt))).toMatchObject({ outcome: 'begun' });
  await raiseFee(login, txId, ether / 10n, 7);
  await insert({ txId, attempt: 7, kind: 'replacement' }, higher(7));
  expect(await resume(txId, 7)).toMatchObject({ outcome: 'refused', code: 'stuck' });
  expect(await ordersOf(txId)).toHaveLength(6);
});

test.each<AttemptKind>(['first', 'reissue'])('a second attempt of kind %s is not ordered', async (kind) => {
  const txId = await begun();
  await insert({ txId, attempt: 2, kind }, higher(1));
  expect(await resume(txId, 2)).toMatchObject({ outcome: 'refused', code: 'business_error' });
  expect(await ordersOf(txId)).toHaveLength(1);
});

test('a first attempt that it begins is not ordered for a destination that is listed, nor without the approval that it needs', async () => {
  const txId = await locked(eth);
  const factorId = await listAddress(fixture.database, fixture.account, (await row(txId)).toAddress);
  await insert({ txId, attempt: 1, kind: 'first', ordinal: 0n });
  expect(await resume(txId, 1)).toMatchObject({ outcome: 'refused', code: 'address_blacklisted' });
  await unlist(fixture.database, factorId);
  await setPolicy(fixture.database, fixture.account, 'approve');
  expect(await resume(txId, 1)).toMatchObject({ outcome: 'refused', code: 'address_not_whitelisted' });
  expect(await ordersOf(txId)).toEqual([]);
});

test('can choose the number of a first attempt of what the API has accepted, also of a wallet that was suspended', async () => {
  const txId = await locked(eth);
  await fixture.database.query(`update wallets set status = 'SUSPENDED' where wallet_id = $1`, [fixture.wallet.walletId]);
  await insert({ txId, attempt: 1, kind: 'first', ordinal: 7n });
  const begun = await resume(txId, 1);
  expect(begun).toMatchObject({ outcome: 'begun', attempt: 1, kind: 'first' });
  expect(parseTransaction((begun as { unsigned: Hex }).unsigned)).toMatchObject({ nonce: 7, value: ether / 1000n });
});

test('a transfer of its own is not accepted', async () => {
  const txId = await locked(eth);
  const copy = `insert into transactions select (jsonb_populate_record(t, jsonb_build_object('tx_id', gen_random_uuid()))).*
    from transactions t where tx_id = $1`;
  await expect(login.query(copy, [txId])).rejects.toThrow('permission denied');
});

test('can say that the database was compared with the nodes', async () => {
  const [, changed] = await login.query<[unknown, number]>('update order_comparison set compared_as = database_incarnation()');
  expect(changed).toBe(1);
});

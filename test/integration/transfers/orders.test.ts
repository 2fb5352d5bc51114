import { randomUUID } from 'node:crypto';
import { createAuthoriserActivities } from '../../../activities/authoriser';
import { getFamily } from '../../../src/chains/families';
import { ChainRegistry } from '../../../src/chains/registry';
import type { AttemptKind, Hex } from '../../../src/chains/types';
import type { AuthoriserActivities } from '../../../src/messages/authoriser';
import type { BeginSigningResult } from '../../../src/messages/transfer';
import { Orders } from '../../../src/orders/orders';
import { newId } from '../../../src/platform/ids';
import {
  isAbandonRequested,
  recordAbandonRequest,
  withdrawAbandonRequest,
} from '../../../src/transfers/operate/operator-requests';
import { alter } from '../../adversary/transfers';
import { buildUser, signAs } from '../../factories';
import { claimsOf, deployment, orderSigner } from '../../orders';
import { nodeKeys } from '../../node-refusals';
import { prepared, registry, type EvmFees, type Fixture } from '../ledger/fixture';
import { listAddress, setPolicy, unlist } from '../screening/factors';
import { useFundedFixture } from './fixture';

let fixture: Fixture;
const { row, locked } = useFundedFixture((it) => (fixture = it));

/** An authoriser whose clock is so far ahead. */
const authoriserIn = async (ms: number): Promise<AuthoriserActivities> => {
  const orders = new Orders({ signer: await orderSigner, deployment, now: () => Date.now() + ms });
  return createAuthoriserActivities({ database: fixture.database, registry, getFamily, orders, nodeKeys });
};
const ask = async (
  txId: string,
  kind: AttemptKind | 'resume' = 'first',
  { last = kind === 'first' ? 0 : 1, fees = {}, inMs = 0 }: { last?: number; fees?: Partial<EvmFees>; inMs?: number } = {},
) => {
  const authoriser = await authoriserIn(inMs);
  return kind === 'resume'
    ? authoriser.beginSigning({ txId, lastAttempt: last, kind })
    : authoriser.beginSigning({ txId, lastAttempt: last, kind, prepared: prepared(fees) });
};
const begun = (result: BeginSigningResult) => {
  if (result.outcome !== 'begun') throw new Error(`not begun: ${JSON.stringify(result)}`);
  return { ...result, claims: claimsOf(result.order) };
};
const stored = (txId: string) =>
  fixture.database.query<{ seq: string; kind: string; attempt: number; claims: object }[]>(
    'select seq, kind, attempt, claims from orders where tx_id = $1 order by seq',
    [txId],
  );
const dearer = { maxFeePerGas: 2_300_000_000n };
const list = async (txId: string) => listAddress(fixture.database, fixture.account, (await row(txId)).toAddress);

describe('an order', () => {
  test('says what is signed, and its claims are stored with the attempt', async () => {
    const idempotencyKey = newId();
    const txId = await locked({ idempotencyKey });
    const { claims, expiresAtMs } = begun(await ask(txId));
    expect(await stored(txId)).toEqual([{ seq: String(claims.seq), kind: 'transfer', attempt: 1, claims }]);
    expect(claims).toMatchObject({ v: 1, dep: deployment, request: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect([claims.exp - claims.iat, expiresAtMs]).toEqual([600, claims.exp * 1000]);
    const change = fixture.database.query('update orders set seq = seq + 1');
    await expect(change).rejects.toThrow('append-only');
  });

  test('is the same again while it lives, then another one over the same bytes', async () => {
    const txId = await locked();
    const first = begun(await ask(txId));
    expect(begun(await ask(txId, 'resume')).order).toBe(first.order);
    const later = begun(await ask(txId, 'resume', { inMs: 520_000 }));
    const { jti, seq, iat, exp, ...facts } = later.claims;
    expect(first.claims).toMatchObject(facts);
    expect([jti === first.claims.jti, seq > first.claims.seq, iat > first.claims.iat, exp > first.claims.exp]).toEqual([
      false,
      true,
      true,
      true,
    ]);
    expect(later.unsigned).toBe(first.unsigned);
    expect(await stored(txId)).toHaveLength(2);
  });

  test('is not renewed where another one would not live longer, since its bytes end first', async () => {
    const txId = await locked();
    const family = getFamily('evm');
    const decode = family.describe.bind(family);
    const end = Math.floor(Date.now() / 1000) + 60;
    jest.spyOn(family, 'describe').mockImplementation((unsigned) => ({ ...decode(unsigned), expiresAt: end }));
    const first = begun(await ask(txId));
    expect(first.claims.exp).toBe(end);
    for (const inMs of [0, 30_000, 59_000]) expect(begun(await ask(txId, 'resume', { inMs })).order).toBe(first.order);
    expect(await stored(txId)).toHaveLength(1);
    jest.restoreAllMocks();
  });

  test('is numbered by the authoriser: who has missed an attempt is told so, and nothing begins', async () => {
    const txId = await locked();
    await ask(txId);
    expect(await ask(txId)).toEqual({ outcome: 'stale', attempt: 1, kind: 'first' });
    begun(await ask(txId, 'replacement', { fees: dearer }));
    expect(await ask(txId, 'replacement', { fees: { maxFeePerGas: 3_000_000_000n } })).toMatchObject({
      outcome: 'stale',
      attempt: 2,
    });
    expect(await ask(txId, 'resume')).toEqual({ outcome: 'stale', attempt: 2, kind: 'replacement' });
    expect(begun(await ask(txId, 'resume', { last: 2 })).claims).toMatchObject({ kind: 'replacement', attempt: 2 });
    expect(await stored(txId)).toHaveLength(2);
  });

  test('two that ask at once begin one attempt', async () => {
    const txId = await locked();
    const outcomes = await Promise.all([ask(txId), ask(txId)]);
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['begun', 'stale']);
  });

  test('is not written for what is signed already', async () => {
    const txId = await locked();
    const { unsigned } = begun(await ask(txId));
    await fixture.ledger.recordSigned({ txId, attempt: 1, signatures: signAs(fixture.wallet, fixture.account, unsigned) });
    expect(await ask(txId, 'resume')).toEqual({ outcome: 'signed', attempt: 1, kind: 'first' });
  });
});

describe('read again before an order is written', () => {
  const nothingBegun = async (txId: string) => {
    expect(await row(txId)).toMatchObject({ signingBegunAt: null });
    expect(await stored(txId)).toEqual([]);
  };

  test('the approval, whatever the state says', async () => {
    const txId = await locked();
    await setPolicy(fixture.database, fixture.account, 'approve');
    expect((await row(txId)).status).toBe('PENDING');
    expect(await ask(txId)).toEqual({ outcome: 'needs_approval' });
    await fixture.ledger.screenTransfer({ txId });
    expect((await row(txId)).status).toBe('AWAITING_APPROVAL');
    expect(await ask(txId)).toEqual({ outcome: 'needs_approval' });
    await nothingBegun(txId);
    const { userId } = await buildUser(fixture.database, fixture.client);
    await fixture.database.query(
      `update transactions set status = 'PENDING', version = version + 1, approved_by = $2, approved_at = now() where tx_id = $1`,
      [txId, userId],
    );
    begun(await ask(txId));
  });

  test('the rules', async () => {
    const txId = await locked();
    await fixture.database.query(`update wallets set status = 'SUSPENDED'`);
    expect(await ask(txId)).toMatchObject({ outcome: 'refused', code: 'wallet_not_active', byRule: true });
    await nothingBegun(txId);
  });

  test('the limits of the wallet', async () => {
    const txId = await locked();
    await fixture.database.query(`insert into wallet_limits (wallet_id, symbol, max_single) values ($1, 'USDC', 9)`, [
      fixture.wallet.walletId,
    ]);
    expect(await ask(txId)).toMatchObject({ outcome: 'refused', code: 'business_error', byRule: true });
    await nothingBegun(txId);
  });

  test('the highest fee of the chain, whatever could be locked', async () => {
    const txId = await locked();
    const fees = { maxFeePerGas: registry.get('ethereum').maxNetworkFee / 65_000n + 1n };
    expect(await ask(txId, 'first', { fees })).toMatchObject({
      outcome: 'refused',
      code: 'fee_above_bound',
      reason: expect.stringContaining('0.25 ETH'),
    });
    await nothingBegun(txId);
  });

  test('the fee of the bytes, whatever the caller says that they cost', async () => {
    const txId = await locked();
    const authoriser = await authoriserIn(0);
    const lie = { ...prepared(), feeBound: '1' };
    await expect(authoriser.beginSigning({ txId, lastAttempt: 0, kind: 'first', prepared: lie })).rejects.toThrow(
      /their bound is 1/,
    );
    await nothingBegun(txId);
  });

  test('the lists, also before another order over the same bytes', async () => {
    const txId = await locked();
    begun(await ask(txId));
    const factorId = await list(txId);
    expect(await ask(txId, 'resume')).toMatchObject({ outcome: 'refused', code: 'address_blacklisted' });
    expect(await ask(txId, 'replacement', { fees: dearer })).toMatchObject({ outcome: 'refused', code: 'address_blacklisted' });
    await unlist(fixture.database, factorId);
    begun(await ask(txId, 'resume'));
    await setPolicy(fixture.database, fixture.account, 'approve');
    expect(await ask(txId, 'resume')).toMatchObject({ outcome: 'refused', code: 'address_not_whitelisted' });
    expect(await stored(txId)).toHaveLength(1);
  });
});

/** As the owner of the schema, while its rules are switched off. */
const tamper = (txId: string, change: string, table = 'transactions'): Promise<void> =>
  fixture.database.transaction(async (manager) => {
    await manager.query(`set local session_replication_role = replica`);
    await manager.query(`update ${table} set ${change} where tx_id = $1`, [txId]);
  });

describe('rows that the authoriser has not written', () => {
  test('an order with the facts of the attempt and a number that was never issued is not signed', async () => {
    const txId = await locked();
    const first = begun(await ask(txId));
    const claims = { ...first.claims, jti: randomUUID(), seq: Number.MAX_SAFE_INTEGER };
    await fixture.database.query('insert into orders (jti, seq, kind, tx_id, attempt, claims) values ($1, $2, $3, $4, 1, $5)', [
      ...[claims.jti, claims.seq, claims.kind, txId],
      JSON.stringify(claims),
    ]);
    expect(begun(await ask(txId, 'resume')).order).toBe(first.order);
    const later = begun(await ask(txId, 'resume', { inMs: 520_000 }));
    expect(later.claims.seq).toBeLessThan(1_000_000);
  });

  test('a destination that is changed together with the bytes of the attempt is not ordered', async () => {
    const [txId, other] = [await locked({ tokenSymbol: 'ETH', amount: '1' }), await locked({ tokenSymbol: 'ETH', amount: '1' })];
    const { unsigned } = begun(await ask(txId));
    const was = await row(txId);
    const { toAddress } = await row(other);
    const rewritten = alter(unsigned, { to: toAddress as Hex });
    const set = async (to: string, bytes: string) => {
      await tamper(txId, `to_address = '${to}', to_address_key = lower('${to}')`);
      await tamper(txId, `unsigned = '${bytes}'`, 'transfer_attempts');
    };
    await set(toAddress, rewritten);
    for (const inMs of [0, 520_000]) await expect(ask(txId, 'resume', { inMs })).rejects.toThrow('is not what its order');
    expect(await stored(txId)).toHaveLength(1);
    await set(was.toAddress, unsigned);
    begun(await ask(txId, 'resume'));
  });
});

describe('a transfer whose row names more than one token', () => {
  const usdc = registry.get('ethereum').tokens.find(({ symbol }) => symbol === 'USDC')?.contract;

  test.each([
    ['the contract of another', `contract_address = '${usdc}'`, 'contract_address = null'],
    ['other decimals', 'decimals = 30', 'decimals = 18'],
    ['another coin for the fee', `fee_symbol = 'USDC'`, `fee_symbol = 'ETH'`],
  ])('%s: nothing is ordered', async (_, change, undo) => {
    const txId = await locked({ tokenSymbol: 'ETH', amount: '0.001' });
    await tamper(txId, change);
    expect(await ask(txId)).toMatchObject({ outcome: 'refused', code: 'business_error' });
    expect(await stored(txId)).toEqual([]);
    await tamper(txId, undo);
  });

  test('neither is a replacement, but a cancellation', async () => {
    const txId = await locked({ tokenSymbol: 'ETH', amount: '0.001' });
    begun(await ask(txId));
    await tamper(txId, `contract_address = '${usdc}'`);
    expect(await ask(txId, 'replacement', { fees: dearer })).toMatchObject({ outcome: 'refused', code: 'business_error' });
    await list(txId);
    begun(await ask(txId, 'cancellation', { fees: dearer }));
  });
});

describe('a replacement', () => {
  /** An authoriser of a chain on which nothing is replaced before this time. */
  const authoriserOf = async (stuckAfterMs: number) =>
    createAuthoriserActivities({
      database: fixture.database,
      registry: new ChainRegistry([{ ...registry.get('ethereum'), stuckAfterMs }]),
      getFamily,
      orders: new Orders({ signer: await orderSigner, deployment }),
      nodeKeys,
    });
  /** Fees of the n-th attempt, high enough to replace the one before. */
  const higher = (attempt: number) =>
    prepared({ maxFeePerGas: (2_000_000_000n * 1126n ** BigInt(attempt)) / 1000n ** BigInt(attempt) });
  const replace = (authoriser: AuthoriserActivities, txId: string, lastAttempt: number, kind: AttemptKind = 'replacement') =>
    authoriser.beginSigning({ txId, lastAttempt, kind, prepared: higher(lastAttempt) });

  test('waits until the newest attempt had its time, and so does a cancellation of a cancellation', async () => {
    const txId = await locked();
    begun(await ask(txId));
    const patient = await authoriserOf(60_000);
    expect(await replace(patient, txId, 1)).toMatchObject({ outcome: 'wait', reason: expect.stringContaining('Attempt 1') });
    begun(await replace(await authoriserOf(0), txId, 1));
    await list(txId);
    begun(await replace(patient, txId, 2, 'cancellation'));
    expect(await replace(patient, txId, 3, 'cancellation')).toMatchObject({ outcome: 'wait' });
    begun(await replace(await authoriserOf(0), txId, 3, 'cancellation'));
  });

  test('is refused after five, and a cancellation after ten', async () => {
    const authoriser = await authoriserOf(0);
    const txId = await locked();
    begun(await ask(txId));
    for (const last of [1, 2, 3, 4, 5]) begun(await replace(authoriser, txId, last));
    expect(await replace(authoriser, txId, 6)).toMatchObject({
      outcome: 'refused',
      code: 'stuck',
      reason: 'Not included in time after 5 replacements: no other one is ordered',
    });
    await list(txId);
    for (let last = 6; last < 16; last += 1) begun(await replace(authoriser, txId, last, 'cancellation'));
    expect(await replace(authoriser, txId, 16, 'cancellation')).toMatchObject({ outcome: 'refused', code: 'stuck' });
  });
});

describe('a cancellation', () => {
  const cancel = (txId: string) => ask(txId, 'cancellation', { fees: { ...dearer, gasLimit: 21_000n } });

  test('needs a reason on record', async () => {
    const txId = await locked();
    await ask(txId);
    expect(await cancel(txId)).toMatchObject({ outcome: 'refused', code: 'not_cancellable' });
    await recordAbandonRequest(fixture.database.manager, { txId, attempt: 1, operator: 'somebody' });
    expect(begun(await cancel(txId)).claims).toMatchObject({ kind: 'cancellation', attempt: 2, recipients: [{ amount: '0' }] });
  });

  test('needs a request that knows the newest attempt and was not withdrawn, and uses it up', async () => {
    const { manager } = fixture.database;
    const txId = await locked();
    const request = { txId, attempt: 1, operator: 'somebody' };
    await ask(txId);
    await recordAbandonRequest(manager, request);
    await withdrawAbandonRequest(manager, request);
    expect(await cancel(txId)).toMatchObject({ outcome: 'refused', code: 'not_cancellable' });
    await recordAbandonRequest(manager, request);
    begun(await ask(txId, 'replacement', { fees: dearer }));
    const fees = { maxFeePerGas: 2_900_000_000n, gasLimit: 21_000n };
    expect(await ask(txId, 'cancellation', { last: 2, fees })).toMatchObject({ outcome: 'refused', code: 'not_cancellable' });
    await recordAbandonRequest(manager, { ...request, attempt: 2 });
    expect(begun(await ask(txId, 'cancellation', { last: 2, fees })).claims).toMatchObject({ kind: 'cancellation', attempt: 3 });
    expect(await isAbandonRequested(manager, txId, 3)).toBe(false);
    const last = await ask(txId, 'cancellation', { last: 3, fees: { ...fees, maxFeePerGas: 3_500_000_000n } });
    expect(begun(last).claims).toMatchObject({ kind: 'cancellation', attempt: 4 });
  });

  test('needs no more than the blacklist, is then all that is signed, and is renewed whatever the lists say', async () => {
    const txId = await locked();
    await ask(txId);
    await list(txId);
    begun(await cancel(txId));
    expect(await ask(txId, 'resume', { last: 1 })).toMatchObject({ outcome: 'stale', attempt: 2 });
    expect(begun(await ask(txId, 'resume', { last: 2, inMs: 520_000 })).claims).toMatchObject({ kind: 'cancellation' });
    const asked = await ask(txId, 'replacement', { last: 2, fees: { maxFeePerGas: 2_900_000_000n, gasLimit: 21_000n } });
    expect(begun(asked).claims).toMatchObject({ kind: 'cancellation', attempt: 3 });
  });
});

test('a request with an unknown or malformed field is refused', async () => {
  const authoriser = await authoriserIn(0);
  const request = { txId: await locked(), lastAttempt: 0, kind: 'first' as const, prepared: prepared() };
  for (const changes of [{ more: 1 }, { lastAttempt: -1 }, { kind: 'sweep' }, { txId: 'x' }, { prepared: {} }])
    await expect(authoriser.beginSigning({ ...request, ...changes } as typeof request)).rejects.toMatchObject({
      code: 'invalid_parameter',
    });
});

test('a kind that is not enabled is not ordered', async () => {
  const orders = new Orders({ signer: await orderSigner, deployment });
  const { claims } = begun(await ask(await locked()));
  await expect(orders.issue(fixture.database.manager, { ...claims, kind: 'sweep' })).rejects.toMatchObject({
    code: 'order_refused',
  });
});

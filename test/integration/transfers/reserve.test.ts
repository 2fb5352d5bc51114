import { createTestLedger } from '../../ledger';
import { evmFamily } from '../../../src/chains/evm/family';
import type { Family, ReserveResult } from '../../../src/chains/family';
import { insertReservation } from '../../../src/chains/reservations';
import { begin, begun, registry, type Fixture } from '../ledger/fixture';
import { useFundedFixture } from './fixture';

let fixture: Fixture;
const { row, locked } = useFundedFixture((it) => (fixture = it));

/** The fixture with a family whose `reserve` is given by the test. */
const onFamily = (reserve: Family['reserve']): Fixture => ({
  ...fixture,
  ledger: createTestLedger({ database: fixture.database, registry, getFamily: () => ({ ...evmFamily, reserve }) }),
});

/** Reserves the given resources one after the other, like inputs: without an ordinal. */
const inputs = (...resources: string[]): Family['reserve'] => {
  const left = [...resources];
  return async (manager, owner, _prepared, txId) => {
    const resource = left.shift() ?? '0';
    await insertReservation(manager, owner, txId, { resource, ordinal: null });
    return { outcome: 'reserved', resources: [resource] };
  };
};

test.each<ReserveResult>([
  { outcome: 'wait', reason: 'every input is taken' },
  { outcome: 'refused', code: 'insufficient_balance', reason: 'the inputs are not enough' },
])('a family that answers $outcome leaves the transfer as it was', async (answer) => {
  const txId = await locked();
  const before = await row(txId);
  const family = onFamily(() => Promise.resolve(answer));
  // the hold would have to be raised too
  expect(await begin(family, { txId, fees: { gasLimit: 200_000n, maxFeePerGas: 10_000_000_000n } })).toEqual(answer);
  expect(await row(txId)).toEqual(before);
  expect(await fixture.database.query('select 1 from transfer_attempts')).toEqual([]);
});

test('an account of which the chain has executed more than was begun waits, and operators are alarmed once', async () => {
  const txId = await locked();
  for (const minedNonce of [7, 8])
    expect(await begin(fixture, { txId, fees: { minedNonce } })).toMatchObject({
      outcome: 'wait',
      reason: expect.stringContaining('is it used elsewhere?'),
    });
  const { chain } = await row(txId);
  const { accountId } = fixture.account;
  expect(fixture.alerts).toEqual([{ alert: 'account_used_elsewhere', chain, account_id: accountId }]);
});

test('bytes that use up something else than was reserved are never stored', async () => {
  const txId = await locked();
  const family: Family = { ...evmFamily, describe: (bytes) => ({ ...evmFamily.describe(bytes), resources: ['7'] }) };
  const ledger = createTestLedger({ database: fixture.database, registry, getFamily: () => family });
  await expect(begin({ ...fixture, ledger }, { txId })).rejects.toThrow(/use up 7, but 0 is reserved/);
  expect((await row(txId)).status).toBe('PENDING');
});

// there a counter was raised first, and what failed before the row was stored left a number that no transaction ever had
test('OpenZeppelin Relayer #818: what fails once its nonce is taken, however often, leaves no gap: the transfers that begin next have it', async () => {
  const txIds = [await locked({ amount: '1' }), await locked({ amount: '1' })];
  const taken: string[] = [];
  const failing: Family = {
    ...evmFamily,
    reserve: async (...given) => {
      const reserved = await evmFamily.reserve(...given);
      if (reserved.outcome === 'reserved') taken.push(...reserved.resources);
      return reserved;
    },
    describe: () => {
      throw new Error('of a test');
    },
  };
  const ledger = createTestLedger({ database: fixture.database, registry, getFamily: () => failing });
  for (const txId of [...txIds, ...txIds]) await expect(begin({ ...fixture, ledger }, { txId })).rejects.toThrow('of a test');
  expect(taken).toEqual(['0', '0', '0', '0']);
  for (const txId of txIds) await begun(fixture, { txId });
  const nonces = 'select ordinal::int from reservations order by ordinal';
  expect(await fixture.database.query(nonces)).toEqual([{ ordinal: 0 }, { ordinal: 1 }]);
});

test('reissued only after proof, with its own resources; those of the first attempt are free again', async () => {
  const txId = await locked();
  const family = onFamily(inputs('5', '6'));
  await begun(family, { txId });
  expect(await begin(family, { txId, attempt: 2, kind: 'reissue' })).toMatchObject({
    outcome: 'refused',
    code: 'business_error',
  });
  await fixture.database.query(`update transfer_attempts set impossible_proof = '{"why": "expired"}'`);
  const second = await begun(family, { txId, attempt: 2, kind: 'reissue' });
  expect(second).toMatchObject({ kind: 'reissue', attempt: 2 });
  expect(
    await fixture.database.query('select resource, released_at is not null as free from reservations order by reservation_id'),
  ).toEqual([
    { resource: '5', free: true },
    { resource: '6', free: false },
  ]);
});

test('an input is held by one transfer at a time', async () => {
  const [first, second] = [await locked(), await locked()];
  await begun(onFamily(inputs('5')), { txId: first });
  await expect(begin(onFamily(inputs('5')), { txId: second })).rejects.toThrow(/reservations_held_once/);
  expect((await row(second)).status).toBe('PENDING');
});

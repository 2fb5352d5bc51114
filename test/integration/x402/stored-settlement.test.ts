import { createFixture, differences, ether, ethereum, type Fixture } from '../ledger/fixture';
import { fundAccount } from '../../factories';
import { buildSettler, type Claim } from './settlement-fixture';
import { createSettling } from './settling';

/** What a settlement would be signed for is what its row says, by which it counts against limits and is settled once. */

let fixture: Fixture;
let settling: ReturnType<typeof createSettling>;

beforeEach(async () => {
  fixture = await createFixture({ poolSize: 5 });
  const built = await buildSettler(fixture.database, ethereum);
  await fundAccount(fixture.database, built.account, ethereum, 'ETH', ether);
  settling = createSettling(fixture, built);
});
afterEach(async () => {
  expect(await differences(fixture)).toEqual([]);
  await fixture.close();
});

const store = (txId: string, change: string) =>
  fixture.database.transaction(async (manager) => {
    await manager.query('set local session_replication_role = replica');
    await manager.query(`update x402_settlements set ${change} where tx_id = $1`, [txId]);
  });
const stateOf = async (txId: string) => {
  const [row] = await fixture.database.query<[object]>(
    `select status, signing_begun_at, (select count(*)::int from orders o where o.tx_id = t.tx_id) as orders from transactions t where tx_id = $1`,
    [txId],
  );
  return row;
};

const authorization: Partial<Claim> = { method: 'eip3009', nonce: `0x${'a5'.repeat(32)}` };
const upto: Partial<Claim> = { method: 'permit2_upto' };

test.each<[string, Partial<Claim>]>([
  ['an authorisation', authorization],
  ['a permit', {}],
  ['a part of a permit', upto],
  ['a permit without an end', { validBefore: 2n ** 200n }],
])('%s is begun as it is stored', async (_, changes) => {
  expect(await settling.begin(await settling.accept(changes))).toMatchObject({ outcome: 'begun', kind: 'first' });
});

const otherAction = (field: string, value: string) => `action = jsonb_set(action, '{${field}}', '"${value}"')`;

describe.each<[string, Partial<Claim>]>([
  ['an authorisation', authorization],
  ['a part of a permit', upto],
])('%s is refused before it is signed', (_, changes) => {
  test.each([
    ['identity', `identity = 'another'`],
    ['identity', otherAction('nonce', changes.method === 'eip3009' ? `0x${'a6'.repeat(32)}` : '7')],
    ['authorised', 'authorised = authorised + 1'],
    ['amount', 'amount = amount - 1'],
    ['window_end', 'window_end = window_end - 1'],
    ['window_end', otherAction('validBefore', '3999999999')],
    ['valid_after', 'valid_after = 1'],
    ['valid_after', otherAction('validAfter', '1')],
    ['action', `action = 'null'`],
    ['method', `payload_type = case payload_type when 'permit2' then 'eip3009' else 'permit2' end`],
    ['method', `scheme = case scheme when 'exact' then 'upto' else 'exact' end`],
  ])('with another %s: %s', async (field, change) => {
    const txId = await settling.accept(changes);
    await store(txId, change);
    const refused = { outcome: 'refused', code: 'intent_mismatch', reason: expect.stringMatching(`^${field}: `) as string };
    expect(await settling.begin(txId)).toEqual(refused);
    expect(await stateOf(txId)).toEqual({ status: 'PENDING', signing_begun_at: null, orders: 0 });
  });
});

test('one that was begun is not ordered again once its row has changed', async () => {
  const txId = await settling.accept();
  await settling.begin(txId);
  await store(txId, 'authorised = authorised + 1');
  expect(await settling.ledger.beginSigning({ txId, lastAttempt: 1, kind: 'resume' })).toMatchObject({
    outcome: 'refused',
    code: 'intent_mismatch',
  });
  expect(await stateOf(txId)).toMatchObject({ status: 'SIGNING', orders: 1 });
});

test('a settlement that the house does not pay for is refused before it is signed, whoever has accepted it', async () => {
  const txId = await settling.accept();
  const refusals = [
    ['is_enabled = false', 'disabled'],
    ['is_enabled = true, gas_per_day = 0', 'exhausted'],
  ];
  for (const [policy, cause] of refusals) {
    await fixture.database.query(`update x402_policies set ${policy}`);
    expect(await settling.begin(txId)).toMatchObject({ outcome: 'refused', reason: expect.stringContaining(String(cause)) });
  }
  expect(await stateOf(txId)).toEqual({ status: 'PENDING', signing_begun_at: null, orders: 0 });
  await fixture.database.query('update x402_policies set gas_per_day = 1');
  expect(await settling.begin(txId)).toMatchObject({ outcome: 'begun' });
});

test('one that waits for an operator keeps no other one of its settler waiting: its place is used up when its time is over', async () => {
  const [parked, next] = [await settling.accept(), await settling.accept()];
  expect(await settling.begin(parked)).toMatchObject({ outcome: 'begun' });
  await settling.ledger.parkTransfer({ txId: parked, code: 'stuck', reason: 'fees' });
  expect(await settling.ledger.readTurn({ txId: next })).toEqual({ outcome: 'free' });
  expect(await settling.begin(next)).toMatchObject({ outcome: 'begun' });
});

import { newId } from '../../../src/platform/ids';
import { randomAddress } from '../../factories';
import {
  type Answer,
  buildFunded,
  buildTenant,
  createFixture,
  expectProblem,
  type Fixture,
  type Funded,
  type Tenant,
} from './fixture';

/** What clients call their transfers: unique for each client, also for requests at the same time. */

let fixture: Fixture;
let tenant: Tenant;
let funded: Funded;
beforeAll(async () => void (fixture = await createFixture({ poolSize: 20 })));
beforeEach(async () => {
  tenant = await buildTenant(fixture);
  funded = await buildFunded(fixture, tenant);
});
afterAll(() => fixture.close());

const bodyOf = (externalId: unknown, changes: object = {}) => ({
  ...{ from_address: funded.account.address, to_address: randomAddress(), chain: 'ethereum', token_symbol: 'USDC', amount: '1' },
  ...{ external_id: externalId, ...changes },
});
const send = (body: object, key?: string): Promise<Answer> =>
  fixture.call('POST', '/transfer', { tenant, body, headers: key === undefined ? {} : { 'Idempotency-Key': key } });
const locked = async (): Promise<string> => {
  const [row] = await fixture.database.query<{ locked: string }[]>(
    `select locked from ledger_accounts where client_id = $1 and symbol = 'USDC'`,
    [tenant.clientId],
  );
  return row?.locked ?? '';
};

test('a transfer shows its external id, and is found by it, by its client alone', async () => {
  const id = `Order.4711:a_b-${newId()}`;
  const txId = (await send(bodyOf(id))).body['tx_id'];
  await send(bodyOf(undefined));
  const found = await fixture.call('GET', `/transactions?external_id=${id}`, { tenant });
  expect(found.body).toMatchObject({ data: [{ tx_id: txId, external_id: id }], total: 1, next: null });
  expect((await fixture.call('GET', `/transactions/${String(txId)}`, { tenant })).body).toMatchObject({ external_id: id });
  expect((await fixture.call('GET', `/transactions?external_id=${id}`, { tenant: fixture.other })).body).toMatchObject({
    data: [],
  });

  tenant = await buildTenant(fixture);
  funded = await buildFunded(fixture, tenant);
  expect((await send(bodyOf(id))).status).toBe(202);
});

test('a second transfer with it is refused, whatever it asks for, and locks nothing', async () => {
  const id = newId();
  const first = bodyOf(id);
  expect((await send(first)).status).toBe(202);
  const before = await locked();
  for (const body of [first, bodyOf(id), bodyOf(id, { token_symbol: 'ETH' }), bodyOf(id, { amount: '1000000' })])
    expectProblem(await send(body), 409, 'external_id_in_use', 'external_id');
  expect(await locked()).toBe(before);
  expect((await fixture.call('GET', '/transactions?status=PENDING', { tenant })).body).toMatchObject({ total: 1 });
  expect((await send(bodyOf(id.toUpperCase()))).status).toBe(202);
});

test('of many requests at once one is accepted and the others are refused', async () => {
  const id = newId();
  const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => send(bodyOf(id), n % 2 ? `key-${n}-${id}` : undefined)));
  expect(answers.map(({ status, body }) => (status === 202 ? 202 : body['code'])).sort()).toEqual([
    202,
    ...Array.from({ length: 11 }, () => 'external_id_in_use'),
  ]);
  expect(await locked()).toBe('1000000');
});

test('the same request gets the same answer, accepted or refused; another id is another request', async () => {
  const [id, key, other] = [newId(), newId(), newId()];
  const body = bodyOf(id);
  const first = await send(body, key);
  const again = await send(body, key);
  expect([first.status, again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([
    202,
    202,
    first.body,
    'true',
  ]);
  expectProblem(await send({ ...body, external_id: newId() }, key), 422, 'idempotency_key_reused');
  const second = bodyOf(id);
  const refused = await send(second, other);
  expectProblem(refused, 409, 'external_id_in_use', 'external_id');
  const replayed = await send(second, other);
  expect([replayed.status, replayed.text]).toEqual([409, refused.text]);
  expect(replayed.headers.get('idempotency-replayed')).toBe('true');
});

test('a key that only the transaction remembers belongs to its external id too', async () => {
  const [id, key] = [newId(), newId()];
  const body = bodyOf(id);
  const first = await send(body, key);
  await fixture.database.query('delete from idempotency_keys');
  expect((await send(body, key)).body['tx_id']).toBe(first.body['tx_id']);
  await fixture.database.query('delete from idempotency_keys');
  expectProblem(await send({ ...body, external_id: newId() }, key), 422, 'idempotency_key_reused');
});

test('a refused transfer leaves its external id to the next one, and one that has ended keeps it', async () => {
  const id = newId();
  expectProblem(await send(bodyOf(id, { amount: '1000000' })), 400, 'insufficient_balance');
  const { body, status } = await send(bodyOf(id));
  expect(status).toBe(202);
  await fixture.call('POST', `/transactions/${String(body['tx_id'])}/cancel`, { tenant });
  expectProblem(await send(bodyOf(id)), 409, 'external_id_in_use', 'external_id');
});

test('what is no external id is refused, and none is ever changed', async () => {
  for (const id of ['', 'a b', 'ä', 'a/b', 'x'.repeat(65), 1, null, 'a\n'])
    expectProblem(await send(bodyOf(id)), 400, 'invalid_parameter', 'external_id');
  const txId = (await send(bodyOf('x'.repeat(64)))).body['tx_id'];
  await expect(fixture.database.query(`update transactions set external_id = 'y' where tx_id = $1`, [txId])).rejects.toThrow(
    /cannot change/,
  );
  await expect(fixture.database.query(`update transactions set external_id = null where tx_id = $1`, [txId])).rejects.toThrow(
    /cannot change/,
  );
});

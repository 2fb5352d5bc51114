import type { DataSource } from 'typeorm';
import { checkGasBudget } from '../../../src/x402/settlement/gas-budget';
import { buildClient, fundAccount } from '../../factories';
import { openDatabase } from '../../stack/database';
import { createFixture, ether, ethereum, type Fixture } from '../ledger/fixture';
import { allowSettling, buildSettler, claim, claimBy } from './settlement-fixture';
import { createSettling } from './settling';

/** What is counted for the client of a settlement: its bound, then its fee. `gas_bound` of the settlements here is 1. */

let fixture: Fixture;
let asApi: DataSource;
let settling: ReturnType<typeof createSettling>;
let sender: string;

beforeAll(async () => {
  fixture = await createFixture({ poolSize: 8 });
  asApi = await openDatabase((await fixture.logins()).gateway_api);
  const built = await buildSettler(fixture.database, ethereum);
  sender = built.account.address;
  await fundAccount(fixture.database, built.account, ethereum, 'ETH', ether);
  settling = createSettling(fixture, built);
});
afterAll(async () => {
  await asApi.destroy();
  await fixture.close();
});

/** Exactly so much is counted for the client. */
async function isCounted(clientId: string, cost: bigint): Promise<void> {
  const limit = (gasPerDay: bigint | null) =>
    fixture.database.query('update x402_policies set gas_per_day = $2 where client_id = $1', [
      clientId,
      gasPerDay?.toString() ?? null,
    ]);
  const within = async (gasPerDay: bigint) => {
    await limit(gasPerDay);
    return checkGasBudget(asApi.manager, { clientId, chain: 'ethereum', gasBound: 1n });
  };
  expect([await within(cost + 1n), await within(cost)]).toEqual(['within', 'exhausted']);
  await limit(null);
}
async function newClient(): Promise<string> {
  const { clientId } = await buildClient(fixture.database);
  await allowSettling(fixture.database, { clientId, chain: 'ethereum' });
  return clientId;
}
const rowsOf = async (clientId: string) => {
  const sql = 'select hour from x402_costs where client_id = $1';
  return (await fixture.database.query<unknown[]>(sql, [clientId])).length;
};
/** As if it had been accepted so many hours ago. */
const age = (clientId: string, hours: number) =>
  fixture.database.query(`update x402_costs set hour = hour - make_interval(hours => $2) where client_id = $1`, [
    clientId,
    hours,
  ]);

test('an open settlement counts with its bound, an ended one with its fee', async () => {
  const { clientId } = fixture.client;
  const txId = await settling.accept();
  await isCounted(clientId, 1n);
  await settling.execute(txId, 21_000n);
  await isCounted(clientId, 1n);
  await settling.end(txId);
  await isCounted(clientId, 21_000n);
  await settling.settleFor(30_000n, false);
  await isCounted(clientId, 51_000n);
});

test('one of which nothing was signed counts no more', async () => {
  const clientId = await newClient();
  const txId = await claim(asApi, claimBy(clientId, sender));
  await isCounted(clientId, 1n);
  await asApi.query(`update transactions set status = 'CANCELLED', version = version + 1 where tx_id = $1`, [txId]);
  await isCounted(clientId, 0n);
});

test('limits read a few rows, however many settlements there are, and all of those that are accepted at the same time count', async () => {
  const clientId = await newClient();
  await Promise.all(Array.from({ length: 60 }, () => claim(asApi, claimBy(clientId, sender))));
  await isCounted(clientId, 60n);
  // eight an hour; an hour may have ended meanwhile
  expect(await rowsOf(clientId)).toBeLessThanOrEqual(16);
});

test('what was accepted more than 24 hours ago counts no more, and goes', async () => {
  const clientId = await newClient();
  await claim(asApi, claimBy(clientId, sender));
  await age(clientId, 24);
  await isCounted(clientId, 1n);
  await age(clientId, 1);
  await isCounted(clientId, 0n);
  await claim(asApi, claimBy(clientId, sender));
  expect(await rowsOf(clientId)).toBe(1);
  await isCounted(clientId, 1n);
});

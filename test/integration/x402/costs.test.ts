import type { DataSource } from 'typeorm';
import { recordAbandonRequest } from '../../../src/transfers/operate/operator-requests';
import { checkGasBudget } from '../../../src/x402/settlement/gas-budget';
import { buildClient, fundAccount, randomAddress } from '../../factories';
import { openDatabase } from '../../stack/database';
import { createFixture, ether, ethereum, type Fixture, include, prepared } from '../ledger/fixture';
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
    return checkGasBudget(asApi.manager, { clientId, chain: 'ethereum', payer: sender, gasBound: 1n });
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

describe('of a payer whose payments fail', () => {
  const failures = async (payer: string) =>
    (await fixture.database.query<unknown[]>('select from x402_failures where payer = $1', [payer])).length;
  const setLimit = (limit: number | null) =>
    fixture.database.query('update x402_policies set failures_per_payer = $1 where client_id = $2', [
      limit,
      fixture.client.clientId,
    ]);
  const verdictOn = (payer: string, { clientId = fixture.client.clientId, chain = 'ethereum' } = {}) =>
    checkGasBudget(asApi.manager, { clientId, chain, payer, gasBound: 0n });
  /** A payment that a block has executed; it was reverted, or has brought so much of 5. */
  const executed = async (payer: string, received: bigint | null = null): Promise<string> => {
    const txId = await settling.accept({ payer });
    await settling.execute(txId, 1n, received !== null);
    if (received !== null) await include(fixture, txId, 1, { fee: 1n, debited: 5n, received });
    return txId;
  };
  afterEach(() => setLimit(5));

  test('what was reverted or has not paid the whole counts from its block on, at this client and on this chain', async () => {
    const [payer, other] = [randomAddress(), randomAddress()];
    await executed(payer);
    await executed(payer, 4n);
    await executed(payer, 5n);
    await setLimit(2);
    expect([await failures(payer), await verdictOn(payer), await verdictOn(other)]).toEqual([2, 'braked', 'within']);
    expect(await verdictOn(payer, { clientId: await newClient() })).toBe('within');
    await setLimit(3);
    expect(await verdictOn(payer)).toBe('within');
    await executed(payer);
    expect(await verdictOn(payer)).toBe('braked');
    await setLimit(null);
    expect(await verdictOn(payer)).toBe('within');
  });

  test('nothing more of it is signed; what it has failed with before is ended as usual', async () => {
    const payer = randomAddress();
    const [failed, waiting] = [await executed(payer), await settling.accept({ payer })];
    await setLimit(1);
    const reason = 'The house does not pay for it: too many payments of the payer have failed';
    expect(await settling.begin(waiting)).toMatchObject({ outcome: 'refused', code: 'business_error', reason });
    await settling.end(failed);
    expect(await failures(payer)).toBe(1);
  });

  test('what a reorganisation has taken back counts no more, nor does a failure of more than an hour ago', async () => {
    const payer = randomAddress();
    const [first] = [await executed(payer), await executed(payer)];
    await setLimit(1);
    await fixture.database.query(
      `update transfer_attempts set block_number = null, block_hash = null, included_id = null, success = null, fee = null, debited = null,
         received = null where tx_id = $1`,
      [first],
    );
    expect([await failures(payer), await verdictOn(payer)]).toEqual([1, 'braked']);
    const age = (by: string) =>
      fixture.database.query('update x402_failures set failed_at = failed_at - $1::interval where payer = $2', [by, payer]);
    await age('59 minutes');
    expect(await verdictOn(payer)).toBe('braked');
    await age('61 seconds');
    expect(await verdictOn(payer)).toBe('within');
    await setLimit(5);
    // the next failure, of whomever, removes it
    await executed(randomAddress());
    expect(await failures(payer)).toBe(0);
  });

  test('a cancellation is not its failure', async () => {
    const payer = randomAddress();
    const txId = await settling.accept({ payer });
    await settling.begin(txId);
    await recordAbandonRequest(fixture.database.manager, { txId, attempt: 1, operator: 'somebody' });
    const fees = prepared({ maxFeePerGas: 4_000_000_000n });
    const { ledger } = settling;
    const cancelled = await ledger.beginSigning({ txId, lastAttempt: 1, kind: 'cancellation', prepared: fees });
    expect(cancelled).toMatchObject({ outcome: 'begun', attempt: 2 });
    await include(fixture, txId, 2, { fee: 1n, debited: 0n });
    expect(await failures(payer)).toBe(0);
  });
});

import type { DataSource } from 'typeorm';
import type { AccountEntity } from '../../../src/accounts/entity';
import type { ClientEntity } from '../../../src/auth/entity';
import { newId } from '../../../src/platform/ids';
import { buildAccount, buildClient, buildWallet, randomAddress } from '../../factories';
import { explain } from '../../explained';
import { createTestDatabase, openDatabase, type TestDatabase } from '../../stack/database';
import { base, ethereum } from '../ledger/fixture';
import { buildSettler, claim, claimBy, insertTransaction, type Claim } from './settlement-fixture';

/** What the database itself holds true of settlements, whatever the API writes. */

let gateway: TestDatabase;
/** With the login of the API. */
let asApi: DataSource;
let client: ClientEntity;
let settler: AccountEntity;

beforeAll(async () => {
  gateway = await createTestDatabase();
  const { gateway_api: url } = await gateway.logins();
  asApi = await openDatabase(url);
  client = await buildClient(gateway.database);
  settler = (await buildSettler(gateway.database, ethereum)).account;
});
afterAll(async () => {
  await asApi.destroy();
  await gateway.drop();
});

const settlement = (changes: Partial<Claim> = {}): Claim => claimBy(client.clientId, settler.address, changes);
const statusOf = async (txId: string) =>
  (await gateway.database.query<[{ status: string }]>('select status from transactions where tx_id = $1', [txId]))[0].status;
const end = (txId: string, status: string, database = asApi): Promise<unknown> =>
  database.query('update transactions set status = $2, version = version + 1 where tx_id = $1', [txId, status]);
/** Not even the owner of the database does, where nobody may. */
const release = (txId: string): Promise<unknown> =>
  gateway.database.query('update x402_settlements set released_at = now() where tx_id = $1', [txId]);

describe('the sender', () => {
  test('is a settler of the chain', async () => {
    expect(await statusOf(await claim(asApi, settlement()))).toBe('PENDING');
  });

  test('is no account of a tenant, no settler of another chain, and not the payer', async () => {
    const { database } = gateway;
    const tenants = await buildAccount(database, await buildWallet(database, client), ethereum);
    const { account: onBase } = await buildSettler(database, base);
    for (const sender of [tenants.address, onBase.address, randomAddress(), null])
      await expect(claim(asApi, settlement({ sender }))).rejects.toThrow(/not sent by a settler of ethereum/);
  });
});

describe('a settlement and its transaction', () => {
  test('are stored together', async () => {
    await expect(asApi.transaction((manager) => insertTransaction(manager, settlement()))).rejects.toThrow(
      /does not say what it settles/,
    );
  });

  test('are explained with the login of operators: nothing is locked, and the client cannot cancel it', async () => {
    const { gateway_operator: url } = await gateway.logins();
    const asOperator = await openDatabase(url);
    const explained = await explain({ database: asOperator }, await claim(asApi, settlement()));
    await asOperator.destroy();
    expect(explained).toMatchObject({ transaction: { type: 'X402_SETTLE', sender: settler.address }, locked: [] });
    expect(explained.actions.map(({ name }) => name)).toEqual(['retry']);
    expect(explained.state.why).toContainEqual(expect.stringMatching(/^It is abandoned by itself in \d+ s/));
  });

  test('say the same', async () => {
    const claimed = settlement();
    const changes: Partial<Claim>[] = [{ clientId: (await buildClient(gateway.database)).clientId }, { chain: 'base' }];
    for (const change of [...changes, { amount: 6n }, { payer: randomAddress() }])
      await expect(claim(asApi, claimed, { ...claimed, ...change })).rejects.toThrow(/not that of its transaction/);
  });

  test('do not change, but for the release', async () => {
    const txId = await claim(asApi, settlement());
    for (const change of ['amount = 0', `action = '{}'`, 'gas_bound = 0', `identity = 'x'`, 'window_end = window_end + 1'])
      await expect(gateway.database.query(`update x402_settlements set ${change} where tx_id = $1`, [txId])).rejects.toThrow(
        /cannot change/,
      );
    await expect(gateway.database.query('delete from x402_settlements')).rejects.toThrow(/append-only/);
  });
});

describe('one payment', () => {
  test('is settled once, whatever the client, the scheme and the amount', async () => {
    const first = settlement();
    await claim(asApi, first);
    const other = (await buildClient(gateway.database)).clientId;
    for (const change of [{}, { clientId: other }, { method: 'permit2_upto' as const }, { amount: 4n }])
      await expect(claim(asApi, { ...first, txId: newId(), ...change })).rejects.toThrow(/x402_settlements_once/);
  });

  test('is named by its caller once; another client may use the same name', async () => {
    const paymentId = 'payment-0123456789';
    await claim(asApi, settlement({ paymentId }));
    await expect(claim(asApi, settlement({ paymentId }))).rejects.toThrow(/x402_settlements_by_payment_id/);
    await claim(asApi, settlement({ paymentId, clientId: (await buildClient(gateway.database)).clientId }));
  });

  test('is settled again once a first settlement has ended unsigned', async () => {
    const first = settlement({ paymentId: 'payment-of-two-tries' });
    const txId = await claim(asApi, first);
    await expect(release(txId)).rejects.toThrow(/keeps its payment/);
    const second = { ...first, txId: newId() };
    await expect(claim(asApi, second)).rejects.toThrow(/x402_settlements_/);
    await end(txId, 'CANCELLED');
    await claim(asApi, second);
    const takeBack = 'update x402_settlements set released_at = null where tx_id = $1';
    await expect(gateway.database.query(takeBack, [txId])).rejects.toThrow(/keeps its payment/);
  });

  test('stays taken once signing has begun, however its settlement ends', async () => {
    const txId = await claim(asApi, settlement());
    await gateway.database.transaction(async (manager) => {
      await manager.query('set local session_replication_role = replica');
      await manager.query(`update transactions set status = 'FAILED', signing_begun_at = now() where tx_id = $1`, [txId]);
    });
    await expect(release(txId)).rejects.toThrow(/keeps its payment/);
  });
});

describe('a settlement of nothing', () => {
  test('is confirmed by the API at once, without a transaction of the chain', async () => {
    const txId = await claim(asApi, settlement({ method: 'permit2_upto', amount: 0n }));
    await end(txId, 'CONFIRMED');
    expect(await statusOf(txId)).toBe('CONFIRMED');
    await expect(release(txId)).rejects.toThrow(/keeps its payment/);
  });

  test('keeps nobody but its own client from having the payment settled', async () => {
    const nothing = settlement({ method: 'permit2_upto', amount: 0n });
    await claim(asApi, nothing);
    const again = { ...nothing, txId: newId() };
    await expect(claim(asApi, again)).rejects.toThrow(/x402_settlements_once_a_client/);
    await expect(claim(asApi, { ...again, amount: 4n })).rejects.toThrow(/x402_settlements_once_a_client/);
    const [first, second] = [(await buildClient(gateway.database)).clientId, (await buildClient(gateway.database)).clientId];
    await claim(asApi, { ...again, clientId: first, amount: 4n });
    await expect(claim(asApi, { ...again, txId: newId(), clientId: second, amount: 4n })).rejects.toThrow(
      /x402_settlements_once"/,
    );
  });

  test('is the only one: another is not confirmed without a transaction of the chain', async () => {
    const txId = await claim(asApi, settlement({ method: 'permit2_upto', amount: 1n }));
    await expect(end(txId, 'CONFIRMED')).rejects.toThrow(/may not make transaction/);
    await expect(end(txId, 'CONFIRMED', gateway.database)).rejects.toThrow(/cannot go from PENDING to CONFIRMED/);
  });
});

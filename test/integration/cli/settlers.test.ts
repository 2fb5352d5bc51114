import type { DataSource } from 'typeorm';
import { AccountEntity } from '../../../src/accounts/entity';
import { OwnAddresses } from '../../../src/accounts/own-addresses';
import { OwnKeys } from '../../../src/accounts/own-keys';
import { getFamily } from '../../../src/chains/families';
import { loadRegistry } from '../../../src/chains/registry';
import { type SettlerDependencies, SettlerOperations } from '../../../src/cli/settler-operations';
import { houseClientId } from '../../../src/platform/house';
import { newId } from '../../../src/platform/ids';
import { activateWallet } from '../../../src/wallets/activate-wallet';
import { AttestedKeys } from '../../../src/wallets/attested-keys';
import { buildAccount, buildClient, buildKey, buildWallet, randomAddress } from '../../factories';
import { nodeKeys } from '../../node-refusals';
import { createTestDatabase, openDatabase, type TestDatabase } from '../../stack/database';
import { ethereum, registry } from '../ledger/fixture';

let gateway: TestDatabase;
/** With the login of operators. */
let asOperator: DataSource;
let dependencies: SettlerDependencies;
let operations: SettlerOperations;

beforeEach(async () => {
  gateway = await createTestDatabase();
  const { gateway_operator: url } = await gateway.logins();
  asOperator = await openDatabase(url);
  const silent = { error: () => undefined };
  const addresses = new OwnAddresses(new AttestedKeys(nodeKeys, silent), getFamily, silent);
  const nobody = { generate: () => Promise.reject(new Error('no account has a key of its own here')) };
  const ownKeys = new OwnKeys(asOperator, nobody, addresses.accountKeys);
  dependencies = { database: asOperator, registry, getFamily, addresses, ownKeys, keyWaitMs: 0 };
  operations = new SettlerOperations(dependencies);
});
afterEach(async () => {
  await asOperator.destroy();
  await gateway.drop();
});

const query = <T>(sql: string, values: unknown[] = []): Promise<T[]> => gateway.database.query<T[]>(sql, values);
const housesWallets = () => query<{ wallet_id: string }>('select wallet_id from wallets where client_id = $1', [houseClientId]);

/** What the signing nodes do after the first attempt to create a settler. */
async function generateKey(): Promise<string> {
  await expect(operations.create('ethereum', { isPrimary: false })).rejects.toMatchObject({ code: 'unavailable' });
  const [wallet] = await housesWallets();
  if (!wallet) throw new Error('the house has no wallet');
  await activateWallet(gateway.database, await buildKey(gateway.database, wallet.wallet_id));
  return wallet.wallet_id;
}
const create = async (chain: string, isPrimary = false) => (await operations.create(chain, { isPrimary })).settler.settlerId;
const primaries = async () =>
  (await operations.list()).filter(({ settler }) => settler.isPrimary).map(({ settler }) => settler.settlerId);

describe('the first settler', () => {
  test('asks for one key of the house, however often it is tried before the nodes have generated it', async () => {
    for (let tries = 1; tries <= 2; tries += 1)
      await expect(operations.create('ethereum', { isPrimary: true })).rejects.toMatchObject({ code: 'unavailable' });
    const wallets = await housesWallets();
    expect(wallets).toHaveLength(1);
    expect(await query('select kind, subject_id from workflow_outbox')).toEqual([
      { kind: 'start_key_generation', subject_id: wallets[0]?.wallet_id },
    ]);
    expect(await operations.list()).toEqual([]);
  });

  test('has an account of the house, at an address that the nodes attest', async () => {
    const walletId = await generateKey();
    const { settler, address } = await operations.create('ethereum', { isPrimary: false });
    expect(settler).toMatchObject({ chain: 'ethereum', status: 'ACTIVE', isPrimary: false });
    const account = await gateway.database.manager.findOneByOrFail(AccountEntity, { accountId: settler.accountId });
    expect(account).toMatchObject({ walletId, clientId: houseClientId, chain: 'ethereum', addressIndex: 0, address });
    expect(settler.addressKey).toBe(account.addressKey);
    expect(await query('select action, client_id, detail from audit_events where subject_id = $1', [settler.settlerId])).toEqual([
      { action: 'settler.created', client_id: null, detail: { chain: 'ethereum', address, is_primary: false } },
    ]);
  });

  test('is refused on a chain that is not enabled, and while the wallet of the house is suspended', async () => {
    await expect(operations.create('polygon', { isPrimary: false })).rejects.toMatchObject({ code: 'invalid_parameter' });
    expect(await housesWallets()).toEqual([]);
    const walletId = await generateKey();
    await query(`update wallets set status = 'SUSPENDED' where wallet_id = $1`, [walletId]);
    await expect(operations.create('ethereum', { isPrimary: false })).rejects.toMatchObject({ code: 'wallet_not_active' });
  });
});

test.each(['bitcoin', 'tron'])('none is created on %s, where no payments are settled', async (chain) => {
  const chains = loadRegistry('local', [chain]);
  const elsewhere = new SettlerOperations({ ...dependencies, registry: chains });
  await expect(elsewhere.create(chain, { isPrimary: true })).rejects.toMatchObject({
    code: 'invalid_parameter',
    message: `chain: no payments are settled on ${chain}, so it needs no settler`,
  });
  // no key is generated for it
  expect(await housesWallets()).toEqual([]);
});

describe('the primary settler', () => {
  beforeEach(generateKey);

  test('is one a chain: the role goes from one to another', async () => {
    const [first, onBase] = [await create('ethereum', true), await create('base', true)];
    const second = await create('ethereum', true);
    expect((await primaries()).sort()).toEqual([onBase, second].sort());
    expect((await operations.makePrimary(first)).settler.isPrimary).toBe(true);
    expect((await primaries()).sort()).toEqual([onBase, first].sort());
    await expect(query('update settlers set is_primary = true')).rejects.toThrow(/settlers_one_primary/);
  });

  test('is none after it is drained, and a drained one does not become it', async () => {
    const [first, second] = [await create('ethereum', true), await create('ethereum')];
    expect((await operations.drain(first)).settler).toMatchObject({ status: 'DRAINING', isPrimary: false });
    expect(await primaries()).toEqual([]);
    await operations.makePrimary(second);
    await expect(operations.makePrimary(first)).rejects.toMatchObject({ code: 'business_error' });
    expect(await primaries()).toEqual([second]);
  });

  test('is drained by mistake: it is taken into use again, and does not get its role back by that', async () => {
    const id = await create('ethereum', true);
    await operations.drain(id);
    expect((await operations.resume(id)).settler).toMatchObject({ status: 'ACTIVE', isPrimary: false });
    expect((await operations.makePrimary(id)).settler.isPrimary).toBe(true);
    // one that is in use stays as it is
    expect((await operations.resume(id)).settler).toMatchObject({ status: 'ACTIVE', isPrimary: true });
  });

  test('is audited once for each change', async () => {
    const id = await create('ethereum');
    for (const change of ['makePrimary', 'drain', 'resume'] as const)
      for (let times = 1; times <= 2; times += 1) await operations[change](id);
    expect(await query('select action from audit_events where subject_id = $1 order by at, audit_id', [id])).toEqual(
      ['settler.created', 'settler.made_primary', 'settler.drained', 'settler.resumed'].map((action) => ({ action })),
    );
  });
});

test('an address that the nodes do not attest is not shown', async () => {
  await generateKey();
  const [swapped, kept] = [await create('ethereum'), await create('ethereum')];
  await gateway.database.transaction(async (manager) => {
    await manager.query('set local session_replication_role = replica');
    await manager.query(
      'update accounts set address = $2 where account_id = (select account_id from settlers where settler_id = $1)',
      [swapped, randomAddress()],
    );
  });
  const shown = new Map((await operations.list('ethereum')).map(({ settler, address }) => [settler.settlerId, address]));
  expect(shown.get(swapped)).toBeNull();
  expect(shown.get(kept)).toMatch(/^0x/);
});

test('an account of a tenant is no settler, and the account of a settler stays', async () => {
  const { database } = gateway;
  const account = await buildAccount(database, await buildWallet(database, await buildClient(database)), ethereum);
  const insert = (accountId: string, addressKey: string, chain = 'ethereum') =>
    asOperator.query('insert into settlers (settler_id, chain, account_id, address_key) values ($1, $2, $3, $4)', [
      newId(),
      chain,
      accountId,
      addressKey,
    ]);
  await expect(insert(account.accountId, account.addressKey)).rejects.toThrow(/no account of the house/);
  await generateKey();
  const { settler } = await operations.create('ethereum', { isPrimary: false });
  await expect(insert(settler.accountId, settler.addressKey, 'base')).rejects.toThrow(/no account of the house/);
  await expect(query('update settlers set account_id = $1', [account.accountId])).rejects.toThrow(/cannot change/);
  await expect(query('delete from settlers')).rejects.toThrow(/append-only/);
});

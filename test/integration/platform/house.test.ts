import { ClientEntity } from '../../../src/auth/entity';
import { ClientOperations } from '../../../src/cli/client-operations';
import { WalletOperations } from '../../../src/cli/wallet-operations';
import { houseClientId } from '../../../src/platform/house';
import { newId } from '../../../src/platform/ids';
import { buildClient, buildUser, buildWallet } from '../../factories';
import { createTestDatabase, type TestDatabase } from '../../stack/database';

let base: TestDatabase;
beforeAll(async () => void (base = await createTestDatabase()));
afterAll(() => base.drop());

const house = () => base.database.manager.findOneByOrFail(ClientEntity, { clientId: houseClientId });
const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'none',
    (error: unknown) => (error as { code?: string }).code,
  );

describe('the house', () => {
  test('is in no list of clients or wallets, and no operator names it', async () => {
    const { database } = base;
    const tenant = await buildClient(database);
    const [own, ofTenant] = [await buildWallet(database, await house()), await buildWallet(database, tenant)];
    const clients = new ClientOperations(database);
    expect((await clients.listClients()).map(({ clientId }) => clientId)).toEqual([tenant.clientId]);
    const wallets = (await new WalletOperations(database).list()).map(({ walletId }) => walletId);
    expect(wallets).toContain(ofTenant.walletId);
    expect(wallets).not.toContain(own.walletId);
    for (const reference of [houseClientId, 'house']) {
      expect(await codeOf(clients.findClient(reference))).toBe('not_found');
      expect(await codeOf(clients.setClientStatus(reference, 'DISABLED'))).toBe('not_found');
      expect(await codeOf(clients.createUser(reference, 'somebody'))).toBe('not_found');
      expect(await codeOf(clients.createKey(reference, 'somebody'))).toBe('not_found');
    }
  });

  test('has no users and no API keys, so that nobody has a token in its name', async () => {
    const { database } = base;
    await expect(buildUser(database, await house())).rejects.toThrow(/house_has_no_users/);
    const { userId } = await buildUser(database, await buildClient(database));
    await expect(
      database.query(
        `insert into api_keys (key_id, client_id, user_id, api_key, secret_hash) values ($1, $2, $3, 'k', decode(repeat('00', 32), 'hex'))`,
        [newId(), houseClientId, userId],
      ),
    ).rejects.toThrow(/house_has_no_keys/);
  });

  test('is not changed, by the owner of the schema either', async () => {
    await expect(
      base.database.query(`update clients set status = 'DISABLED' where client_id = $1`, [houseClientId]),
    ).rejects.toThrow(/cannot be changed/);
  });
});

import type { DataSource } from 'typeorm';
import { AccountEntity } from '../../../src/accounts/entity';
import { accountKeyGenerationOn } from '../../../src/accounts/key-generation';
import { OwnAddresses } from '../../../src/accounts/own-addresses';
import { OwnKeys } from '../../../src/accounts/own-keys';
import { toBase58 } from '../../../src/chains/solana/codec/base58';
import { getFamily } from '../../../src/chains/families';
import { SettlerOperations } from '../../../src/cli/settler-operations';
import { nodeIndexes } from '../../../src/messages/nodes';
import { authoriserTaskQueue } from '../../../src/messages/task-queues';
import { houseClientId } from '../../../src/platform/house';
import { AttestedKeys } from '../../../src/wallets/attested-keys';
import { buildWallet } from '../../factories';
import { openDatabase } from '../../stack/database';
import { createScene, registry, type Scene } from '../accounts/scene';

/** Settlers on a chain whose keys have no children: real nodes generate the key of each, with the login of operators. */

jest.setTimeout(120_000);

let scene: Scene;
let asOperator: DataSource;
let operations: SettlerOperations;
beforeAll(async () => {
  scene = await createScene();
  const { gateway_operator: url } = await scene.fixture.logins();
  asOperator = await openDatabase(url);
  const silent = { error: () => undefined };
  const addresses = new OwnAddresses(new AttestedKeys(scene.attesting, silent), getFamily, silent);
  const ownKeys = new OwnKeys(asOperator, accountKeyGenerationOn(scene.temporal.client, 20_000), addresses.accountKeys);
  operations = new SettlerOperations({ database: asOperator, registry, getFamily, addresses, ownKeys, keyWaitMs: 0 });
  await buildWallet(scene.fixture.database, { clientId: houseClientId } as never);
});
afterAll(async () => {
  await asOperator?.destroy();
  await scene?.close();
});

const count = async (table: string): Promise<number> => {
  const [row] = await scene.fixture.database.query<{ count: number }[]>(`select count(*)::int from ${table}`);
  return row?.count ?? -1;
};

test('each has a key of its own, attested by the nodes and bound to its account', async () => {
  const created = [
    await operations.create('solana', { isPrimary: true }),
    await operations.create('solana', { isPrimary: false }),
  ];
  const ids = created.map(({ settler }) => settler.accountId);
  for (const { settler, address } of created) {
    const account = await scene.fixture.database.manager.findOneByOrFail(AccountEntity, { accountId: settler.accountId });
    expect(account).toMatchObject({ clientId: houseClientId, chain: 'solana', keyId: `${settler.accountId}.1`, address });
    for (const node of nodeIndexes) {
      const shares = await scene.group.query<{ public_key: Buffer; account_id: string }>(
        node,
        'select public_key, account_id from key_shares where key_id = $1',
        [account.keyId],
      );
      expect(shares).toMatchObject([{ account_id: settler.accountId }]);
      expect(toBase58(shares[0]!.public_key)).toBe(address);
    }
  }
  expect(new Set(ids).size).toBe(2);
  expect((await operations.list('solana')).map(({ address }) => address)).toEqual(created.map(({ address }) => address));
  expect(await count('account_key_requests')).toBe(0);
});

test('without a key within its time nothing is created', async () => {
  const before = [await count('settlers'), await count('accounts')];
  await scene.stopWorker(authoriserTaskQueue);
  await expect(operations.create('solana', { isPrimary: false })).rejects.toMatchObject({ code: 'unavailable' });
  expect([await count('settlers'), await count('accounts')]).toEqual(before);
  await scene.startWorker(authoriserTaskQueue);
  expect((await operations.create('solana', { isPrimary: false })).address).not.toBeNull();
});

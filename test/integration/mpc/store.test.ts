import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import type { QueryRunner } from 'typeorm';
import { migrations } from '../../../migrations/mpc-node';
import { ConfigError } from '../../../src/platform/config';
import { ShareStore } from '../../../src/mpc/store';
import { createNodeDatabase, type NodeDatabase } from './group';
import { unlockedKey } from './unlocked-key';

describe('the share store', () => {
  let database: NodeDatabase;
  let store: ShareStore;
  const kek = randomBytes(32);
  const open = (node: 1 | 2 | 3 = 1, key: Buffer = kek) =>
    ShareStore.open({ url: database.url, node, keks: [Buffer.from(key)], migrations });
  const newKey = (keyId: string) => unlockedKey(keyId, { shareLength: 105_000 });
  const query = async (sql: string, values: unknown[] = []) => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      return (await client.query(sql, values)).rows as Record<string, Buffer>[];
    } finally {
      await client.end();
    }
  };

  beforeAll(async () => {
    database = await createNodeDatabase();
    store = await open();
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  test('returns a stored share, also after a restart', async () => {
    const key = newKey('k1');
    await store.put(key);
    expect(await store.unlock('k1')).toEqual(key);
    const again = await open();
    expect(await again.unlock('k1')).toEqual(key);
    await again.close();
    expect(await store.unlock('unknown')).toBeNull();
  });

  test('a bound share can be decrypted for its owner only', async () => {
    const key = newKey('bound');
    await store.put(key);
    const owner = { clientId: 'client', walletId: 'wallet' };
    await store.bind('bound', owner);
    expect(await store.unlock('bound')).toEqual({ ...key, ...owner });
    await store.bind('bound', owner);
    await expect(store.bind('bound', { ...owner, walletId: 'another' })).rejects.toThrow(/another owner/);
    // the database refuses what the ciphertext would show
    await query('alter table key_shares disable trigger key_shares_guard');
    await query(`update key_shares set client_id = 'another' where key_id = 'bound'`);
    await expect(store.unlock('bound')).rejects.toThrow(/cannot be decrypted/);
    await query(`update key_shares set wallet_id = null where key_id = 'bound'`);
    await expect(store.unlock('bound')).rejects.toThrow(/cannot be decrypted/);
  });

  test('stores no share unencrypted', async () => {
    const key = newKey('k2');
    await store.put(key);
    const [row] = await query('select ciphertext from key_shares where key_id = $1', ['k2']);
    expect(row?.ciphertext?.includes(key.share.subarray(0, 16))).toBe(false);
  });

  test('stores the same again without effect and never overwrites', async () => {
    const key = newKey('k3');
    await store.put(key);
    await expect(store.put(key)).resolves.toBeUndefined();
    await expect(store.put({ ...key, share: randomBytes(105_000) })).rejects.toThrow(/not overwritten/);
    await expect(store.put(newKey('k3'))).rejects.toThrow(/not overwritten/);
    expect(await store.unlock('k3')).toEqual(key);
  });

  test('refuses a ciphertext moved to another key, and changed public data', async () => {
    await store.put(newKey('k4'));
    await store.put(newKey('k5'));
    await query(
      `update key_shares a set ciphertext = b.ciphertext, iv = b.iv, tag = b.tag from key_shares b where a.key_id = 'k4' and b.key_id = 'k5'`,
    );
    await expect(store.unlock('k4')).rejects.toThrow(/cannot be decrypted/);
    await query(`update key_shares set chain_code = $1 where key_id = 'k5'`, [randomBytes(32)]);
    await expect(store.unlock('k5')).rejects.toThrow(/cannot be decrypted/);
  });

  test('a start with another key-encryption key or node index is refused with a message', async () => {
    await expect(open(1, randomBytes(32))).rejects.toThrow(
      new ConfigError('MPC_NODE_KEK is not the key that the shares in MPC_NODE_DATABASE_URL are encrypted under'),
    );
    await expect(open(2)).rejects.toThrow(
      new ConfigError('MPC_NODE_DATABASE_URL names the database of node 1, but this is node 2 (MPC_NODE_INDEX)'),
    );
  });

  test('migrations have minutes; what the node does later has seconds', async () => {
    let migrating: unknown;
    class Asks {
      readonly name = 'Asks1700000009999';
      async up(runner: QueryRunner): Promise<void> {
        [migrating] = (await runner.query('show statement_timeout')) as unknown[];
      }
      async down(): Promise<void> {}
    }
    const other = await ShareStore.open({
      url: database.url,
      node: 1,
      keks: [Buffer.from(kek)],
      migrations: [...migrations, Asks],
    });
    const [serving] = await other.database.query<unknown[]>('show statement_timeout');
    await other.close();
    expect({ migrating, serving }).toEqual({
      migrating: { statement_timeout: '10min' },
      serving: { statement_timeout: '10s' },
    });
  });

  test('a database that is down is not a configuration error', async () => {
    const url = new URL(database.url);
    url.port = '1';
    const failure = await ShareStore.open({ url: url.toString(), node: 1, keks: [Buffer.from(kek)], migrations }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: 'ECONNREFUSED' });
    expect(failure).not.toBeInstanceOf(ConfigError);
  });
});

import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { migrations } from '../../../migrations/mpc-node';
import { type KekRotationReport, rotateKek } from '../../../src/cli/kek-rotation';
import { ConfigError } from '../../../src/platform/config';
import { ShareCipher } from '../../../src/mpc/share-cipher';
import { ShareStore } from '../../../src/mpc/store';
import { createNodeDatabase, Group, localRegistry, type NodeDatabase } from './group';
import { orderedTransfer } from './transactions';
import { unlockedKey } from './unlocked-key';

/** `gateway keys rotate kek`. */

const operator = 'ann';
const owner = { clientId: 'client', walletId: 'wallet' };
const cipher = (...keks: Buffer[]) =>
  new ShareCipher(
    keks.map((kek) => Buffer.from(kek)),
    1,
  );

describe('the database of a node', () => {
  const [old, next] = [randomBytes(32), randomBytes(32)];
  const keys = ['k1', 'k2', 'k3', 'k4', 'k5'].map((keyId) => unlockedKey(keyId));
  let database: NodeDatabase;
  let store: ShareStore;
  const open = (...keks: Buffer[]) =>
    ShareStore.open({ url: database.url, node: 1, keks: keks.map((kek) => Buffer.from(kek)), migrations });
  const opens = async (...keks: Buffer[]): Promise<void> => {
    const opened = await open(...keks);
    try {
      for (const key of keys) {
        const bound = key.keyId === 'k1' ? owner : {};
        expect(await opened.unlock(key.keyId)).toEqual({ ...key, ...bound });
      }
    } finally {
      await opened.close();
    }
  };
  const rotate = (of: ShareCipher, options: { batchSize?: number; onBatch?: () => void } = {}): Promise<KekRotationReport> =>
    rotateKek(store.database, of, { node: 1, operator, ...options });
  const query = async <Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      return (await client.query<Row>(sql, values)).rows;
    } finally {
      await client.end();
    }
  };
  const rows = () => query('select * from key_shares order by key_id');
  const counts = async () =>
    Object.fromEntries(
      (await query<{ kek: string; count: string }>('select kek_fingerprint as kek, count(*) from key_shares group by 1')).map(
        ({ kek, count }) => [kek === cipher(next).fingerprint ? 'next' : 'old', Number(count)],
      ),
    );

  beforeEach(async () => {
    database = await createNodeDatabase();
    store = await open(old);
    for (const key of keys) await store.put(key);
    await store.bind('k1', owner);
  });
  afterEach(async () => {
    await store.close();
    await database.drop();
  });

  test('opens with the new key alone after its rotation, with what every share is bound to unchanged', async () => {
    expect(await rotate(cipher(next, old))).toEqual({ resealed: 5, shares: 5, kek_fingerprint: cipher(next).fingerprint });
    await opens(next);
    await opens(next, old);
    await expect(open(old)).rejects.toThrow(ConfigError);
    expect(await query('select operator, act, detail from operator_acts')).toEqual([
      { operator, act: 'kek_rotated', detail: { kek_fingerprint: cipher(next).fingerprint, resealed: 5 } },
    ]);
    expect(await rotate(cipher(next))).toMatchObject({ resealed: 0, shares: 5 });
    expect(await query('select from operator_acts')).toHaveLength(1);
  });

  test('interrupted after a batch, it opens with both keys and with no single one; the next run finishes', async () => {
    const interrupted = rotate(cipher(next, old), {
      batchSize: 2,
      onBatch: () => {
        throw new Error('interrupted');
      },
    });
    await expect(interrupted).rejects.toThrow('interrupted');
    expect(await counts()).toEqual({ next: 2, old: 3 });
    await opens(next, old);
    await opens(old, next);
    await expect(open(old)).rejects.toThrow(new RegExp('^MPC_NODE_KEK lacks the key of 2 shares'));
    await expect(open(next)).rejects.toThrow(ConfigError);

    expect(await rotate(cipher(next, old), { batchSize: 2 })).toMatchObject({ resealed: 3, shares: 5 });
    await opens(next);
  });

  test('with a wrong old key or node nothing is changed', async () => {
    const before = await rows();
    const wrong = 'MPC_NODE_KEK is not the key that the shares in MPC_NODE_DATABASE_URL are encrypted under';
    await expect(rotate(cipher(next, randomBytes(32)))).rejects.toThrow(new ConfigError(wrong));
    await expect(rotate(cipher(next))).rejects.toThrow(new ConfigError(wrong));
    await expect(rotateKek(store.database, cipher(next, old), { node: 2, operator })).rejects.toThrow(/this is node 2/);
    expect(await rows()).toEqual(before);
    await opens(old);
  });

  test('a share that does not open stops its batch and is named; the ones before stay sealed under the new key', async () => {
    await query(`update key_shares set chain_code = $1 where key_id = 'k4'`, [randomBytes(32)]);
    await expect(rotate(cipher(next, old), { batchSize: 2 })).rejects.toThrow(/key k4 cannot be decrypted/);
    expect(await counts()).toEqual({ next: 2, old: 3 });
    expect(await query('select kek_fingerprint from node_identity')).toEqual([{ kek_fingerprint: cipher(old).fingerprint }]);
  });

  test('a share that a process with the old key alone adds afterwards is missed at the next start; the next run seals it', async () => {
    await rotate(cipher(next, old));
    await store.put(unlockedKey('k6'));
    await expect(open(next)).rejects.toThrow(/lacks the key of 1 shares/);
    expect(await rotate(cipher(next, old))).toMatchObject({ resealed: 1, shares: 6 });
    await opens(next);
  });
});

describe('a node', () => {
  let group: Group;
  afterAll(() => group.close());

  test('signs with both keys while its shares are encrypted again, and with the new key alone afterwards', async () => {
    group = await Group.create();
    const key = await group.addKey('wallet.1');
    let nonce = 0;
    const sign = () => group.sign(orderedTransfer(key, localRegistry, { nonce: (nonce += 1) }), 1, 2);
    const restart = async (keks: Buffer[]) => {
      await group.stop(1);
      group.keks.set(1, keks);
      await group.start(1);
    };
    const [[old], next] = [group.keks.get(1) as [Buffer], randomBytes(32)];
    const before = await group.openStore(1);
    for (let share = 0; share < 40; share += 1) await before.put(unlockedKey(`other.${share}`));
    await before.close();

    await restart([next, old]);
    const store = await group.openStore(1);
    try {
      const rotation = rotateKek(store.database, cipher(next, old), { node: 1, operator, batchSize: 1 });
      for (let signature = 0; signature < 4; signature += 1) expect((await sign()).signatures).toHaveLength(1);
      expect(await rotation).toMatchObject({ resealed: 41, shares: 41 });
    } finally {
      await store.close();
    }
    await restart([next]);
    expect((await sign()).signatures).toHaveLength(1);
  }, 180_000);
});

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';
import { migrations } from '../../../migrations/mpc-node';
import { ShareStore } from '../../../src/mpc/store';
import { orderKeys } from '../../orders';
import { createNodeDatabase, type NodeDatabase } from './group';

/** `gateway keys rotate …`, each command a process of its own. */

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'keys-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (args: string[], env: Record<string, string>) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) =>
    execFile(
      process.execPath,
      [path.join(projectRoot, 'bin', 'gateway.js'), 'keys', 'rotate', ...args],
      { env: { PATH: process.env.PATH, GATEWAY_OPERATOR: 'ann', DATABASE_URL: 'postgres://x:x@127.0.0.1:1/x', ...env } },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  );

test('order: prints what to do with which file, and never the private key', async () => {
  const { code, out, err } = await run(['order', folder], { ORDER_KEYS: orderKeys });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const kid = /^new order key (\S{43})$/m.exec(out)?.[1] as string;
  expect(readdirSync(folder).sort()).toEqual([
    `order-key-${kid}.pem`,
    `order-keys-all-${kid}.json`,
    `order-keys-nodes-${kid}.json`,
  ]);
  for (const file of readdirSync(folder)) expect(out).toContain(path.join(folder, file));
  const secret = readFileSync(path.join(folder, `order-key-${kid}.pem`), 'utf8').split('\n')[1] as string;
  expect(out).not.toContain(secret);

  const all = { ORDER_KEYS_FILE: path.join(folder, `order-keys-all-${kid}.json`) };
  expect(await run(['order', folder], all)).toMatchObject({ code: 1, err: expect.stringContaining('ORDER_KEYS has 2 keys') });
  const finished = await run(['order', folder, '--finish', kid, '--json'], all);
  expect(JSON.parse(finished.out)).toEqual({ kid, files: { nodes: path.join(folder, `order-keys-only-${kid}.json`) } });
  expect(await run(['order', folder, '--finish', kid], all)).toMatchObject({
    code: 1,
    err: expect.stringContaining('not overwritten'),
  });
  expect(await run(['order', folder], {})).toMatchObject({ code: 78, err: expect.stringContaining('ORDER_KEYS') });
});

describe('kek', () => {
  let database: NodeDatabase;
  const [old, next] = [randomBytes(32), randomBytes(32)];
  beforeAll(async () => {
    database = await createNodeDatabase();
    const store = await ShareStore.open({ url: database.url, node: 1, keks: [Buffer.from(old)], migrations });
    await store.put({
      keyId: 'k',
      clientId: null,
      protocol: 'ecdsa-secp256k1',
      publicKey: Buffer.concat([Buffer.from([2]), randomBytes(32)]),
      chainCode: randomBytes(32),
      share: randomBytes(1_000),
    });
    await store.close();
  });
  afterAll(() => database.drop());

  const kek = (...keys: Buffer[]) => {
    const file = path.join(folder, 'kek');
    writeFileSync(file, keys.map((key) => key.toString('hex')).join(','));
    return run(['kek', '--json'], { MPC_NODE_INDEX: '1', MPC_NODE_DATABASE_URL: database.url, MPC_NODE_KEK_FILE: file });
  };

  test('prints counts and the fingerprint; a wrong key is an error of the environment', async () => {
    expect(await kek(next)).toMatchObject({ code: 78, err: expect.stringContaining('MPC_NODE_KEK is not the key') });
    expect(await kek(next, next)).toMatchObject({ code: 78, err: expect.stringContaining('names a key twice') });
    const { code, out } = await kek(next, old);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({ resealed: 1, shares: 1, kek_fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect(out).not.toContain(next.toString('hex'));
    expect(JSON.parse((await kek(next)).out)).toMatchObject({ resealed: 0, shares: 1 });
  });
});

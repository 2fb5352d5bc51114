import { createPublicKey } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { decodeProtectedHeader } from 'jose';
import { createOrderKey, writeOnlyKey } from '../../../src/cli/order-key-files';
import { OrderKeys } from '../../../src/mpc/order-keys';
import { OrderSigner } from '../../../src/orders/signer';
import { orderHead, orderKey, orderKeys } from '../../orders';
import { newKeyPair } from '../../keys';

/** `gateway keys rotate order`. */

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'order-key-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const sign = async (key: string): Promise<string> =>
  (await OrderSigner.create(key)).sign({ ...orderHead(), kind: 'generate_key', key_id: 'k', client_id: 'c' });
const read = (file: string): string => readFileSync(file, 'utf8');
const opens = async (jwks: string, order: string, variable: 'MPC_NODE_ORDER_KEYS' | 'ORDER_KEYS'): Promise<boolean> =>
  (await OrderKeys.create(jwks, variable)).open(order).then(
    ({ isOrder }) => isOrder,
    () => false,
  );
const kidOf = (order: string): unknown => decodeProtectedHeader(order).kid;

test('nodes accept orders of both keys meanwhile, then of the new one; operators verify all of them for ever', async () => {
  const { kid, files } = await createOrderKey({ folder, jwks: orderKeys });
  const [before, after] = [await sign(orderKey), await sign(read(files.private_key))];
  expect(kidOf(after)).toBe(kid);
  for (const order of [before, after]) {
    expect(await opens(read(files.nodes), order, 'MPC_NODE_ORDER_KEYS')).toBe(true);
    expect(await opens(read(files.operators), order, 'ORDER_KEYS')).toBe(true);
  }
  const only = await writeOnlyKey(folder, read(files.operators), kid);
  expect(await opens(read(only), before, 'MPC_NODE_ORDER_KEYS')).toBe(false);
  expect(await opens(read(only), after, 'MPC_NODE_ORDER_KEYS')).toBe(true);
});

test('the private key is in one file, which its owner alone can read', async () => {
  const created = await createOrderKey({ folder, jwks: orderKeys });
  expect(statSync(created.files.private_key).mode & 0o777).toBe(0o600);
  expect(JSON.stringify(created)).not.toContain('PRIVATE');
  for (const file of [created.files.nodes, created.files.operators]) {
    const { keys } = JSON.parse(read(file)) as { keys: object[] };
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(Object.keys(key).sort()).toEqual(['crv', 'kid', 'kty', 'x']);
  }
});

test('a key older than the current one does not come back to the nodes', async () => {
  const first = await createOrderKey({ folder, jwks: orderKeys });
  const all = read(first.files.operators);
  await expect(createOrderKey({ folder, jwks: all })).rejects.toMatchObject({ code: 'invalid_parameter' });
  await expect(createOrderKey({ folder, jwks: all, current: 'other' })).rejects.toMatchObject({ code: 'not_found' });
  const second = await createOrderKey({ folder, jwks: all, current: first.kid });
  const oldest = await sign(orderKey);
  expect(await opens(read(second.files.nodes), oldest, 'MPC_NODE_ORDER_KEYS')).toBe(false);
  expect(await opens(read(second.files.nodes), await sign(read(first.files.private_key)), 'MPC_NODE_ORDER_KEYS')).toBe(true);
  expect(await opens(read(second.files.operators), oldest, 'ORDER_KEYS')).toBe(true);
});

test('no file is overwritten, and a run that fails leaves no private key', async () => {
  const { kid, files } = await createOrderKey({ folder, jwks: orderKeys });
  const only = path.join(folder, `order-keys-only-${kid}.json`);
  writeFileSync(only, 'mine');
  await expect(writeOnlyKey(folder, read(files.operators), kid)).rejects.toThrow(/exists already and is not overwritten/);
  expect(read(only)).toBe('mine');
  const before = readdirSync(folder);
  await expect(createOrderKey({ folder: path.join(folder, 'missing'), jwks: orderKeys })).rejects.toThrow(
    /cannot be written \(ENOENT\)/,
  );
  expect(readdirSync(folder)).toEqual(before);
});

test.each([
  ['a private key', () => JSON.stringify({ keys: [newKeyPair('ed25519').privateKey.export({ format: 'jwk' })] })],
  [
    'another type of key',
    () => JSON.stringify({ keys: [createPublicKey(newKeyPair('ed448').privateKey).export({ format: 'jwk' })] }),
  ],
  ['no JWKS', () => 'nope'],
])('ORDER_KEYS with %s is refused', async (_what, jwks) => {
  await expect(createOrderKey({ folder, jwks: jwks() })).rejects.toThrow(
    /^ORDER_KEYS must be a JWKS with 1 to 100 Ed25519 public keys$/,
  );
  expect(readdirSync(folder)).toEqual([]);
});

import { createPublicKey, generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { calculateJwkThumbprint, exportJWK } from 'jose';
import { readOrderKeys } from '../mpc/order-keys';
import { GatewayError } from '../platform/errors';

export interface NewOrderKey {
  /** RFC 7638 thumbprint, which orders name their key by. */
  kid: string;
  /** Paths. */
  files: {
    /** For the authoriser: PKCS#8 PEM, mode 0600. */
    private_key: string;
    /** For the nodes: the current key and the new one. */
    nodes: string;
    /** For operators: all keys, so that old orders can be verified. */
    operators: string;
  };
}

interface CreateOptions {
  /** Where the files are written. */
  folder: string;
  /** ORDER_KEYS of the operator. */
  jwks: string;
  /** Thumbprint of the key that the authoriser signs with now; not needed when `jwks` has no other. */
  current?: string | undefined;
}

/**
 * Makes a new order key. Existing files are not overwritten, and the private key is not returned. The nodes' file has the current and
 * the new key only, no older ones.
 * @throws ConfigError when `jwks` is none; GatewayError not_found when the current key is not in it, invalid_parameter when it is not
 * named, business_error when a file exists or cannot be written.
 */
export async function createOrderKey({ folder, jwks, current }: CreateOptions): Promise<NewOrderKey> {
  const known = readOrderKeys(jwks, 'ORDER_KEYS');
  const used = await findCurrent(known, current);
  // as text at once: a key object of Node's generator shares a lock with its job, and may wait for itself when that is collected
  const { privateKey, publicKey: spki } = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const publicKey = createPublicKey(spki);
  const kid = await thumbprint(publicKey);
  const files = {
    private_key: path.join(folder, `order-key-${kid}.pem`),
    nodes: path.join(folder, `order-keys-nodes-${kid}.json`),
    operators: path.join(folder, `order-keys-all-${kid}.json`),
  };
  const [forNodes, forOperators] = await Promise.all([toJwks([used, publicKey]), toJwks([...known, publicKey])]);
  await writeNew(files.nodes, forNodes, 0o644);
  await writeNew(files.operators, forOperators, 0o644);
  // last: a run that failed leaves no key behind
  await writeNew(files.private_key, privateKey, 0o600);
  return { kid, files };
}

/**
 * Ends a replacement: writes a JWKS with the key `kid` alone, for the nodes, and returns its path.
 * @throws ConfigError when `jwks` is none; GatewayError not_found when it does not have the key, business_error when the file exists or
 * cannot be written.
 */
export async function writeOnlyKey(folder: string, jwks: string, kid: string): Promise<string> {
  const key = await find(readOrderKeys(jwks, 'ORDER_KEYS'), kid);
  const file = path.join(folder, `order-keys-only-${kid}.json`);
  await writeNew(file, await toJwks([key]), 0o644);
  return file;
}

async function findCurrent(known: KeyObject[], current: string | undefined): Promise<KeyObject> {
  const [only, ...others] = known;
  if (current !== undefined) return find(known, current);
  if (!only || others.length > 0)
    throw new GatewayError(
      'invalid_parameter',
      `ORDER_KEYS has ${known.length} keys: name the one that the authoriser signs with now (--current; \`gateway orders show\` prints it as kid)`,
    );
  return only;
}

async function find(keys: KeyObject[], kid: string): Promise<KeyObject> {
  for (const key of keys) if ((await thumbprint(key)) === kid) return key;
  throw new GatewayError('not_found', `ORDER_KEYS has no key with the thumbprint ${kid}`);
}

const thumbprint = async (key: KeyObject): Promise<string> => calculateJwkThumbprint(await exportJWK(key));

async function toJwks(keys: KeyObject[]): Promise<string> {
  const jwks = await Promise.all(
    keys.map(async (key): Promise<JsonWebKey> => ({ ...key.export({ format: 'jwk' }), kid: await thumbprint(key) })),
  );
  return `${JSON.stringify({ keys: jwks }, null, 2)}\n`;
}

/** Never a file that exists: it could be the only copy of a key. A file that was not written completely is removed. */
async function writeNew(file: string, content: string, mode: number): Promise<void> {
  try {
    const handle = await open(file, 'wx', mode);
    try {
      await handle.writeFile(content);
      await handle.datasync();
    } catch (error) {
      await rm(file);
      throw error;
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    const problem = code === 'EEXIST' ? 'exists already and is not overwritten' : `cannot be written (${code})`;
    throw new GatewayError('business_error', `${file} ${problem}`, { cause: error });
  }
}

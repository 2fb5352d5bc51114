import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, compactVerify, exportJWK } from 'jose';
import { orderType } from '../messages/order';
import { ConfigError } from '../platform/config';

type OrderKeysVariable = 'MPC_NODE_ORDER_KEYS' | 'ORDER_KEYS';

/** Nodes accept few keys; operators keep those of old orders too. */
const maxKeys: Record<OrderKeysVariable, number> = { MPC_NODE_ORDER_KEYS: 10, ORDER_KEYS: 100 };

/** The authoriser's public keys by their RFC 7638 thumbprints. Keys that an order contains or refers to are ignored. */
export class OrderKeys {
  private constructor(private readonly keys: ReadonlyMap<string | undefined, KeyObject>) {}

  /**
   * `jwks`: Ed25519 public keys (RFC 7517), 1 to 10 for a node and 100 for an operator, the value of `variable`.
   * @throws ConfigError when it is anything else.
   */
  static async create(jwks: string, variable: OrderKeysVariable): Promise<OrderKeys> {
    const keys = new Map<string | undefined, KeyObject>();
    for (const key of readOrderKeys(jwks, variable)) keys.set(await calculateJwkThumbprint(await exportJWK(key)), key);
    return new OrderKeys(keys);
  }

  /**
   * The payload of what one of the keys has signed, and whether its header says that it is an order.
   * @throws Error when none has.
   */
  async open(order: string): Promise<{ payload: Uint8Array; isOrder: boolean }> {
    const { payload, protectedHeader } = await compactVerify(order, ({ kid }) => this.find(kid), { algorithms: ['EdDSA'] });
    return { payload, isOrder: protectedHeader.typ === orderType };
  }

  private find(kid: string | undefined): KeyObject {
    const key = this.keys.get(kid);
    if (!key) throw new Error('unknown key');
    return key;
  }
}

/** `jwks`, or an empty one, with one more key. @throws ConfigError when it is not a JWKS. */
export function withOwnKey(jwks: string | undefined, key: JsonWebKey): string {
  const others = jwks ? readOrderKeys(jwks, 'ORDER_KEYS').map((other) => other.export({ format: 'jwk' })) : [];
  return JSON.stringify({ keys: [...others.filter(({ x }) => x !== key.x), key] });
}

/** The public keys of a JWKS. @throws ConfigError when it is none, or has a private key. */
export function readOrderKeys(text: string, variable: OrderKeysVariable): KeyObject[] {
  const max = maxKeys[variable];
  const wrong = new ConfigError(`${variable} must be a JWKS with 1 to ${max} Ed25519 public keys`);
  try {
    const { keys } = JSON.parse(text) as { keys: JsonWebKey[] };
    if (keys.length < 1 || keys.length > max || keys.some((jwk) => jwk.crv !== 'Ed25519' || jwk.d !== undefined)) throw wrong;
    return keys.map((key) => createPublicKey({ key, format: 'jwk' }));
  } catch {
    throw wrong;
  }
}

import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, CompactSign, exportJWK } from 'jose';
import { type OrderClaims, orderType } from '../messages/order';
import { ConfigError } from '../platform/config';

/**
 * Signs orders: JWS in compact form with EdDSA over Ed25519 (RFC 7515, RFC 8037), `kid` an RFC 7638 thumbprint. The signature is
 * deterministic: the same stored claims give the same order.
 */
export class OrderSigner {
  private constructor(
    private readonly key: KeyObject,
    private readonly keyId: string,
  ) {}

  /** JWK. */
  get publicKey(): JsonWebKey {
    return createPublicKey(this.key).export({ format: 'jwk' });
  }

  /**
   * `text`: an Ed25519 private key, PKCS#8 PEM or JWK.
   * @throws ConfigError when it is none; the message does not repeat it.
   */
  static async create(text: string): Promise<OrderSigner> {
    const key = readKey(text);
    if (key?.asymmetricKeyType !== 'ed25519')
      throw new ConfigError('ORDER_KEY must be an Ed25519 private key (PKCS#8 PEM or JWK)');
    return new OrderSigner(key, await calculateJwkThumbprint(await exportJWK(createPublicKey(key))));
  }

  sign(claims: OrderClaims): Promise<string> {
    return new CompactSign(Buffer.from(JSON.stringify(claims)))
      .setProtectedHeader({ alg: 'EdDSA', kid: this.keyId, typ: orderType })
      .sign(this.key);
  }
}

function readKey(text: string): KeyObject | undefined {
  try {
    const isJwk = text.trimStart().startsWith('{');
    return isJwk ? createPrivateKey({ key: JSON.parse(text) as JsonWebKey, format: 'jwk' }) : createPrivateKey(text);
  } catch {
    // the caller reports the error: the parser's message could contain the key
    return undefined;
  }
}

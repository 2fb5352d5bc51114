import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, jwtVerify, SignJWT } from 'jose';
import { ConfigError } from '../platform/config';
import { GatewayError } from '../platform/errors';
import { isUuid } from '../platform/ids';
import type { Caller } from '../http/context';

export interface TokenOptions {
  /** Ed25519, PKCS#8 PEM. */
  privateKey: string;
  issuer: string;
  audience: string;
  ttlSeconds: number;
}

/** Access tokens: JWT, EdDSA over Ed25519 (RFC 8037); the algorithm is pinned and `kid` is the key's RFC 7638 thumbprint. */
export class AccessTokens {
  private constructor(
    private readonly options: TokenOptions,
    private readonly privateKey: KeyObject,
    private readonly publicKey: KeyObject,
    private readonly keyId: string,
  ) {}

  /** @throws ConfigError when the key is no Ed25519 private key. */
  static async create(options: TokenOptions): Promise<AccessTokens> {
    const privateKey = readKey(options.privateKey);
    const publicKey = createPublicKey(privateKey);
    return new AccessTokens(options, privateKey, publicKey, await calculateJwkThumbprint(await exportJWK(publicKey)));
  }

  get ttlSeconds(): number {
    return this.options.ttlSeconds;
  }

  issue({ clientId, userId, keyId }: Caller): Promise<string> {
    const { issuer, audience, ttlSeconds } = this.options;
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT({ client_id: clientId, key_id: keyId })
      .setProtectedHeader({ alg: 'EdDSA', kid: this.keyId, typ: 'JWT' })
      .setSubject(userId)
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt(now)
      .setExpirationTime(now + ttlSeconds)
      .sign(this.privateKey);
  }

  /** @throws GatewayError unauthorized for anything but a valid token of this gateway. */
  async verify(token: string): Promise<Caller> {
    const { issuer, audience } = this.options;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.publicKey, {
        algorithms: ['EdDSA'],
        issuer,
        audience,
        requiredClaims: ['sub', 'iat', 'exp'],
      });
      const { sub: userId, client_id: clientId, key_id: keyId } = payload;
      if (protectedHeader.kid === this.keyId && isId(userId) && isId(clientId) && isId(keyId)) return { clientId, userId, keyId };
    } catch (error) {
      throw new GatewayError('unauthorized', 'The access token is invalid or has expired', { cause: error });
    }
    throw new GatewayError('unauthorized', 'The access token is invalid or has expired');
  }
}

const isId = (value: unknown): value is string => typeof value === 'string' && isUuid(value);

function readKey(pem: string): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(pem);
  } catch {
    // reported below: the parser's message may quote the key
  }
  if (key?.asymmetricKeyType !== 'ed25519') throw new ConfigError('JWT_PRIVATE_KEY must be an Ed25519 private key (PKCS#8 PEM)');
  return key;
}

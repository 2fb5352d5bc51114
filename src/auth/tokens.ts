import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, jwtVerify, SignJWT } from 'jose';
import { ConfigError } from '../platform/config';
import { setBounded } from '../platform/bounded';
import { GatewayError } from '../platform/errors';
import { isUuid } from '../platform/ids';
import type { Caller } from '../http/context';

export interface TokenOptions {
  /** Ed25519, PKCS#8 PEM. */
  privateKey: string;
  /** Further public keys (SPKI PEM, concatenated) whose tokens are accepted: those of the previous or next private key. */
  publicKeys?: string | undefined;
  issuer: string;
  audience: string;
  ttlSeconds: number;
}

/** How far the clock of another API process may be ahead. */
const maxClockSkewSeconds = 5;
const maxPublicKeys = 10;
/** Tokens whose signature need not be checked again. */
const maxVerified = 10_000;
const invalid = 'The access token is invalid or has expired';

/**
 * Access tokens: JWT with EdDSA over Ed25519 (RFC 8037). The algorithm is fixed; `kid`, an RFC 7638 thumbprint, selects one of the
 * configured keys. Keys that a token contains or refers to are ignored.
 */
export class AccessTokens {
  /** By token: what it says, until it expires. A signature takes longer to check than the rest of a short request. */
  private readonly verified = new Map<string, { caller: Caller; exp: number }>();

  private constructor(
    private readonly options: TokenOptions,
    private readonly privateKey: KeyObject,
    private readonly keyId: string,
    private readonly publicKeys: ReadonlyMap<string | undefined, KeyObject>,
  ) {}

  /** @throws ConfigError when a key is not an Ed25519 key in the required format. */
  static async create(options: TokenOptions): Promise<AccessTokens> {
    const privateKey = readPrivateKey(options.privateKey);
    const own = createPublicKey(privateKey);
    const accepted = new Map<string, KeyObject>();
    for (const key of [own, ...readPublicKeys(options.publicKeys)]) accepted.set(await thumbprint(key), key);
    return new AccessTokens(options, privateKey, await thumbprint(own), accepted);
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

  /** @throws GatewayError unauthorized unless the token is a valid one of this gateway. */
  async verify(token: string): Promise<Caller> {
    const { issuer, audience } = this.options;
    const known = this.verified.get(token);
    if (known && known.exp > Date.now() / 1000) return known.caller;
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => this.findKey(kid), {
        algorithms: ['EdDSA'],
        typ: 'JWT',
        issuer,
        audience,
        requiredClaims: ['sub', 'iat', 'exp'],
      });
      const { sub: userId, client_id: clientId, key_id: keyId, iat = Infinity, exp = 0 } = payload;
      const isIssuedBeforeNow = iat <= Date.now() / 1000 + maxClockSkewSeconds;
      if (isIssuedBeforeNow && isId(userId) && isId(clientId) && isId(keyId)) {
        const caller = { clientId, userId, keyId };
        setBounded(this.verified, token, { caller, exp }, maxVerified);
        return caller;
      }
    } catch (error) {
      throw new GatewayError('unauthorized', invalid, { cause: error });
    }
    throw new GatewayError('unauthorized', invalid);
  }

  private findKey(kid: string | undefined): KeyObject {
    const key = this.publicKeys.get(kid);
    if (!key) throw new GatewayError('unauthorized', invalid);
    return key;
  }
}

const isId = (value: unknown): value is string => typeof value === 'string' && isUuid(value);

const thumbprint = async (key: KeyObject): Promise<string> => calculateJwkThumbprint(await exportJWK(key));

function readPrivateKey(pem: string): KeyObject {
  const key = readEd25519(createPrivateKey, pem);
  if (!key) throw new ConfigError('JWT_PRIVATE_KEY must be an Ed25519 private key (PKCS#8 PEM)');
  return key;
}

function readPublicKeys(pems = ''): KeyObject[] {
  const wrong = new ConfigError(
    `JWT_PUBLIC_KEYS must be 1 to ${maxPublicKeys} Ed25519 public keys (SPKI PEM), one after another`,
  );
  if (pems.trim() === '') return [];
  const blocks = pems.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g) ?? [];
  const rest = blocks.reduce((text, block) => text.replace(block, ''), pems);
  if (rest.trim() !== '' || blocks.length > maxPublicKeys) throw wrong;
  return blocks.map((pem) => {
    const key = readEd25519(createPublicKey, pem);
    if (!key) throw wrong;
    return key;
  });
}

function readEd25519(read: (pem: string) => KeyObject, pem: string): KeyObject | undefined {
  try {
    const key = read(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    // the caller reports the error: the parser's message could contain the key
    return undefined;
  }
}

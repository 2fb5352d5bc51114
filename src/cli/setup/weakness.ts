import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readOrderKeys } from '../../mpc/order-keys';

/** What is wrong with a secret, for the end of a sentence that begins with its file; null when nothing is. Never contains the secret. */
export type Weakness = (content: string) => string | null;

const minPasswordLength = 24;
const minDistinct = 8;

export const findTextWeakness =
  (minLength: number): Weakness =>
  (content) => {
    if (content.length < minLength) return `is too short: it has ${content.length} characters, and needs at least ${minLength}`;
    const distinct = new Set(content).size;
    if (distinct === 1) return 'has the same character all over';
    return distinct < minDistinct ? `has only ${distinct} different characters` : null;
  };

/** It stands in urls, SQL and shells as it is. */
export const findPasswordWeakness: Weakness = (content) =>
  /^[A-Za-z0-9]*$/.test(content) ? findTextWeakness(minPasswordLength)(content) : 'has other characters than letters and digits';

/** 32 bytes in hex, or several such keys after a replacement. */
export const findKekWeakness: Weakness = (content) => {
  const keys = content.split(',').map((key) => key.trim().toLowerCase());
  if (!keys.every((key) => /^[0-9a-f]{64}$/.test(key))) return 'is not 32 bytes in hex, or several such keys separated by commas';
  const weak = keys.map(findTextWeakness(64)).find((weakness) => weakness !== null);
  return weak ?? (new Set(keys).size < keys.length ? 'has the same key twice' : null);
};

export const findEd25519Weakness: Weakness = (content) =>
  findKeyWeakness(content, 'ed25519', 'an Ed25519 private key (PKCS#8 PEM)');

export const findCertificateKeyWeakness: Weakness = (content) => findKeyWeakness(content, 'ec', 'an EC private key (PKCS#8 PEM)');

function findKeyWeakness(content: string, type: string, what: string): string | null {
  try {
    const key = createPrivateKey(content);
    if (key.asymmetricKeyType !== type) return `is not ${what}`;
    return type === 'ec' && key.asymmetricKeyDetails?.namedCurve !== 'prime256v1' ? 'is not on the curve P-256' : null;
  } catch {
    return `is not ${what}`;
  }
}

/** A JWKS with the public part of the key that signs orders; it may have others too. */
export const findJwksWeakness =
  (orderKey: string): Weakness =>
  (content) => {
    const own = createPublicKey(orderKey).export({ format: 'jwk' }).x;
    try {
      const keys = readOrderKeys(content, 'ORDER_KEYS');
      return keys.some((key) => key.export({ format: 'jwk' }).x === own) ? null : "does not have the authoriser's order key";
    } catch {
      return 'is not a JWKS of Ed25519 public keys';
    }
  };

/** A url of Postgres with this login and database, and a password that is not weak. */
export const findUrlWeakness =
  (login: string, database: string): Weakness =>
  (content) => {
    if (!URL.canParse(content)) return 'is not a url';
    const { protocol, username, password, pathname } = new URL(content);
    if (!/^postgres(ql)?:$/.test(protocol)) return 'is not a url of Postgres';
    if (username !== login || pathname !== `/${database}`)
      return `is not a url of the login ${login} for the database ${database}`;
    const weak = findPasswordWeakness(password);
    return weak === null ? null : `has a password that ${weak}`;
  };

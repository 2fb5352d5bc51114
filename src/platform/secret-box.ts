import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { ConfigError } from './config';

const version = 1;
const sizes = { keyId: 4, iv: 12, tag: 16 } as const;
const headerSize = 1 + sizes.keyId + sizes.iv + sizes.tag;

/** One key for each purpose, so that a process can decrypt only what it needs. */
export type SecretKeyVariable = 'TOTP_SECRETS_KEY' | 'WEBHOOK_SECRETS_KEY' | 'STORED_ANSWERS_KEY';

/**
 * Encrypts small secrets of one purpose for the database with AES-256-GCM and random 96-bit IVs (NIST SP 800-38D). The owner of a secret
 * is associated data. Layout: version (1) | key id (4) | iv (12) | tag (16) | ciphertext.
 */
export class SecretBox {
  private readonly keys: ReadonlyMap<string, Buffer>;
  /** Id of the key that encrypts, in hex: the first bytes of its SHA-256. */
  readonly currentKeyId: string;

  /**
   * @param keys 32 bytes in hex each, separated by commas: the first encrypts, all of them decrypt, so that a key can be replaced.
   * @param variable the variable with the keys, for error messages.
   * @throws ConfigError when there is no key or one is malformed.
   */
  constructor(
    keys: string,
    private readonly variable: SecretKeyVariable,
  ) {
    const parsed = keys.split(',').map((key) => key.trim());
    if (!parsed.every((key) => /^[0-9a-fA-F]{64}$/.test(key)))
      throw new ConfigError(`${variable} must be 32 bytes in hex, or several such keys separated by commas`);
    const byId = parsed.map((hex) => {
      const key = Buffer.from(hex, 'hex');
      return [createHash('sha256').update(key).digest().subarray(0, sizes.keyId).toString('hex'), key] as const;
    });
    this.keys = new Map(byId);
    this.currentKeyId = (byId[0] as (typeof byId)[number])[0];
  }

  /** Of all keys. */
  get keyIds(): string[] {
    return [...this.keys.keys()];
  }

  /** @throws ConfigError when the boxes share a key: a process with that key could decrypt the secrets of both purposes. */
  assertOtherKeys(other: SecretBox): void {
    if ([...this.keys.keys()].some((id) => other.keys.has(id)))
      throw new ConfigError(`${this.variable} and ${other.variable} must be different keys`);
  }

  /** `owner` identifies the row and its purpose; `open` needs the same value. */
  seal(plain: string, owner: string): Buffer {
    const iv = randomBytes(sizes.iv);
    const cipher = createCipheriv('aes-256-gcm', this.keys.get(this.currentKeyId) as Buffer, iv).setAAD(Buffer.from(owner));
    const ciphertext = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.from([version]), Buffer.from(this.currentKeyId, 'hex'), iv, cipher.getAuthTag(), ciphertext]);
  }

  /** @throws Error when the secret was sealed for another owner, was changed, or needs a key that is not configured. */
  open(sealed: Buffer, owner: string): string {
    if (sealed.length < headerSize || sealed[0] !== version) throw new Error('not a sealed secret');
    const [id, iv, tag] = [
      sealed.subarray(1, 1 + sizes.keyId),
      sealed.subarray(1 + sizes.keyId, 1 + sizes.keyId + sizes.iv),
      sealed.subarray(1 + sizes.keyId + sizes.iv, headerSize),
    ];
    const key = this.keys.get(id.toString('hex'));
    if (!key) throw new Error(`encrypted with a key that is not in ${this.variable}`);
    const decipher = createDecipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(owner)).setAuthTag(tag);
    return decipher.update(sealed.subarray(headerSize), undefined, 'utf8') + decipher.final('utf8');
  }
}

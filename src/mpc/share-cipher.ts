import { createCipheriv, createDecipheriv, createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import type { KeyProtocol } from '../chains/types';
import type { NodeIndex } from '../messages/nodes';
import { ConfigError } from '../platform/config';

export interface SealedShare {
  ciphertext: Buffer;
  /** 12 random bytes: safe for up to 2^32 messages under one key, far more than there are shares. */
  iv: Buffer;
  /** 16 bytes. */
  tag: Buffer;
  /** Of the key-encryption key that it is sealed under. */
  kekFingerprint: string;
}

/** Associated data of a share: the ciphertext cannot be decrypted for another row, node or protocol. */
export interface ShareBinding {
  keyId: string;
  protocol: KeyProtocol;
  publicKey: Uint8Array;
  chainCode: Uint8Array;
  /** Whose key it is; null before it is bound. */
  owner: KeyOwner | null;
}

export interface KeyOwner {
  clientId: string;
  walletId: string;
  /** Of a key without children; absent: the wallet's key. */
  accountId?: string;
}

/** At most this many key-encryption keys at once: one, and those that are being replaced. */
const maxKeks = 5;

/**
 * The keys of MPC_NODE_KEK, 32 bytes each; the first seals.
 * @throws ConfigError for anything but different keys in hex, separated by commas.
 */
export function parseKeks(text: string): Buffer[] {
  const keks = text.split(',').map((hex) => hex.trim().toLowerCase());
  if (keks.length > maxKeks || !keks.every((hex) => /^[0-9a-f]{64}$/.test(hex)))
    throw new ConfigError(`MPC_NODE_KEK must be 32 bytes in hex, or up to ${maxKeks} such keys separated by commas`);
  if (new Set(keks).size < keks.length) throw new ConfigError('MPC_NODE_KEK names a key twice');
  return keks.map((hex) => Buffer.from(hex, 'hex'));
}

/** Encrypts key shares with AES-256-GCM (NIST SP 800-38D) under the first of a node's key-encryption keys; all of them decrypt. */
export class ShareCipher {
  private readonly keys: ReadonlyMap<string, KeyObject>;
  private readonly current: KeyObject;
  /** Identifies the key that seals without revealing anything about it. */
  readonly fingerprint: string;
  /** Of all keys. */
  readonly fingerprints: readonly string[];

  /** Copies `keks` (32 bytes each, at least one) and wipes the given buffers. */
  constructor(
    keks: readonly Buffer[],
    private readonly node: NodeIndex,
  ) {
    if (keks.some((kek) => kek.length !== 32)) throw new Error('a key-encryption key must have 32 bytes');
    const keys = keks.map((kek) => createSecretKey(kek));
    for (const kek of keks) kek.fill(0);
    const [current] = keys;
    if (!current) throw new Error('there is no key-encryption key');
    this.current = current;
    this.fingerprint = toFingerprint(current);
    this.keys = new Map(keys.map((key) => [toFingerprint(key), key]));
    this.fingerprints = [...this.keys.keys()];
  }

  seal(share: Uint8Array, binding: ShareBinding): SealedShare {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.current, iv).setAAD(this.aad(binding));
    const ciphertext = Buffer.concat([cipher.update(share), cipher.final()]);
    return { ciphertext, iv, tag: cipher.getAuthTag(), kekFingerprint: this.fingerprint };
  }

  /** The caller must wipe the result. @throws Error for another key, or a ciphertext that was changed or belongs elsewhere. */
  open({ ciphertext, iv, tag, kekFingerprint }: SealedShare, binding: ShareBinding): Buffer {
    const key = this.keys.get(kekFingerprint);
    if (!key)
      throw new Error(
        `the stored share of key ${binding.keyId} cannot be decrypted: its key-encryption key (fingerprint ${kekFingerprint}) is not in MPC_NODE_KEK`,
      );
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: 16 }).setAAD(this.aad(binding)).setAuthTag(tag);
    const opened = decipher.update(ciphertext);
    try {
      decipher.final();
    } catch {
      opened.fill(0);
      throw new Error(
        `the stored share of key ${binding.keyId} cannot be decrypted: the key-encryption key is another one, or the row was changed`,
      );
    }
    return opened;
  }

  /** Fields are length-prefixed, so that the encoding is unambiguous. */
  private aad({ keyId, protocol, publicKey, chainCode, owner }: ShareBinding): Buffer {
    const bound = owner ? [owner.clientId, owner.walletId, ...(owner.accountId === undefined ? [] : [owner.accountId])] : [];
    const fields = ['custody-gateway/mpc/share/v1', keyId, protocol, String(this.node), publicKey, chainCode, ...bound].map(
      (field) => Buffer.from(field as string),
    );
    return Buffer.concat(fields.flatMap((field) => [lengthPrefix(field), field]));
  }
}

const toFingerprint = (key: KeyObject): string =>
  createHmac('sha256', key).update('custody-gateway/mpc/kek-fingerprint/v1').digest('hex').slice(0, 16);

function lengthPrefix(field: Buffer): Buffer {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(field.length);
  return prefix;
}

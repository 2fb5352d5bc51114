import { createCipheriv, createDecipheriv, createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import type { NodeIndex } from '../messages/nodes';
import type { ProtocolName } from './protocols';

export interface SealedShare {
  ciphertext: Buffer;
  /** 12 random bytes: safe for up to 2^32 messages under one key, far more than there are shares. */
  iv: Buffer;
  /** 16 bytes. */
  tag: Buffer;
}

/** Associated data of a share: the ciphertext cannot be decrypted for another row, node or protocol. */
export interface ShareBinding {
  keyId: string;
  protocol: ProtocolName;
  publicKey: Uint8Array;
  chainCode: Uint8Array;
  /** Whose key it is; null before it is bound. */
  owner: KeyOwner | null;
}

export interface KeyOwner {
  clientId: string;
  walletId: string;
}

/** Encrypts key shares with AES-256-GCM (NIST SP 800-38D) under a node's key-encryption key. */
export class ShareCipher {
  private readonly key: KeyObject;
  /** Identifies the key-encryption key without revealing anything about it. */
  readonly fingerprint: string;

  /** Copies `kek` (32 bytes) and wipes the given buffer. */
  constructor(
    kek: Buffer,
    private readonly node: NodeIndex,
  ) {
    if (kek.length !== 32) throw new Error('a key-encryption key must have 32 bytes');
    this.key = createSecretKey(kek);
    this.fingerprint = createHmac('sha256', this.key).update('custody-gateway/mpc/kek-fingerprint/v1').digest('hex').slice(0, 16);
    kek.fill(0);
  }

  seal(share: Uint8Array, binding: ShareBinding): SealedShare {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.key, iv).setAAD(this.aad(binding));
    const ciphertext = Buffer.concat([cipher.update(share), cipher.final()]);
    return { ciphertext, iv, tag: cipher.getAuthTag() };
  }

  /** The caller must wipe the result. @throws Error for another key, or a ciphertext that was changed or belongs elsewhere. */
  open({ ciphertext, iv, tag }: SealedShare, binding: ShareBinding): Buffer {
    const decipher = createDecipheriv('aes-256-gcm', this.key, iv, { authTagLength: 16 })
      .setAAD(this.aad(binding))
      .setAuthTag(tag);
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
    const bound = owner ? [owner.clientId, owner.walletId] : [];
    const fields = ['custody-gateway/mpc/share/v1', keyId, protocol, String(this.node), publicKey, chainCode, ...bound].map(
      (field) => Buffer.from(field as string),
    );
    return Buffer.concat(fields.flatMap((field) => [lengthPrefix(field), field]));
  }
}

function lengthPrefix(field: Buffer): Buffer {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(field.length);
  return prefix;
}

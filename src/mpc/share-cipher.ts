import { createCipheriv, createDecipheriv, createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import type { Party, ProtocolName } from './protocols';

export interface SealedShare {
  ciphertext: Buffer;
  /** 12 bytes, random: far fewer shares than the 2^32 up to which that is safe for one key. */
  iv: Buffer;
  /** 16 bytes. */
  tag: Buffer;
}

/** What a share is bound to: its ciphertext opens in no other row, node or protocol. */
export interface ShareBinding {
  keyId: string;
  protocol: ProtocolName;
  publicKey: Uint8Array;
  chainCode: Uint8Array;
}

/** AES-256-GCM (NIST SP 800-38D) of key shares under a node's key-encryption key. */
export class ShareCipher {
  private readonly key: KeyObject;
  /** Names the key-encryption key without telling anything of it. */
  readonly fingerprint: string;

  /** Copies `kek` (32 bytes) and wipes the given buffer. */
  constructor(
    kek: Buffer,
    private readonly node: Party,
  ) {
    if (kek.length !== 32) throw new Error('a key-encryption key has 32 bytes');
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

  /** The caller wipes the answer. @throws Error for another key, a changed or a misplaced ciphertext. */
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
        `the stored share of key ${binding.keyId} does not decrypt: another key-encryption key, or the row was changed`,
      );
    }
    return opened;
  }

  /** Fields are length-prefixed, so that none can flow into the next. */
  private aad({ keyId, protocol, publicKey, chainCode }: ShareBinding): Buffer {
    const fields = ['custody-gateway/mpc/share/v1', keyId, protocol, String(this.node), publicKey, chainCode].map((field) =>
      Buffer.from(field as string),
    );
    return Buffer.concat(fields.flatMap((field) => [lengthPrefix(field), field]));
  }
}

function lengthPrefix(field: Buffer): Buffer {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(field.length);
  return prefix;
}

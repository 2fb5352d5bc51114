import { randomBytes } from 'node:crypto';
import type { UnlockedKey } from '../../../src/mpc/store';

/** A key that is bound to nothing, with a share of random bytes. */
export const unlockedKey = (keyId: string, { shareLength = 10_000 } = {}): UnlockedKey => ({
  keyId,
  clientId: null,
  walletId: null,
  protocol: 'ecdsa-secp256k1',
  publicKey: Buffer.concat([Buffer.from([2]), randomBytes(32)]),
  chainCode: randomBytes(32),
  share: randomBytes(shareLength),
});

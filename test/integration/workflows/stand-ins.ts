import { ApplicationFailure } from '@temporalio/common';
import type { Hex } from '../../../src/chains/types';
import type { GroupKey, HeldKey } from '../../../src/messages/key-generation';
import type { FailureCode } from '../../../src/platform/codes';

/** What takes the place of the signing nodes where only the workflow is looked at. */

export const groupKey = (keyId: string): GroupKey => ({
  keyId,
  publicKey: `0x02${'ab'.repeat(32)}` as Hex,
  chainCode: `0x${'cd'.repeat(32)}`,
});

/** A node that generates keys; the order is the id of the key. */
export const nodeThatGenerates = () => ({
  generateKey: ({ order }: { order: string }) => groupKey(order),
  confirmKey: ({ keyId }: { keyId: string }): HeldKey => ({ ...groupKey(keyId), walletId: null }),
  testSign: () => ({ verified: true }),
  bindKey: () => ({ bound: true, attestation: { text: '{}', signature: '' } }),
});

/** @throws ApplicationFailure always: this is not tried again. */
export function permanently(type: FailureCode): never {
  throw ApplicationFailure.create({ type, message: type, nonRetryable: true });
}

import { ApplicationFailure } from '@temporalio/common';
import type { Hex } from '../../../src/chains/types';
import type { GroupKey, HeldKey } from '../../../src/messages/key-generation';
import type { HeldTransfer } from '../../../src/messages/transfer';
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

/** A transfer that was signed and waits for its chain, as its row is read by `adoptHold`; nothing is done about it for an hour. */
export const followedTransfer: HeldTransfer = {
  ...{ chain: 'ethereum', requiredConfirmations: 12, stuckAfterMs: 3_600_000, blockTimeMs: 12_000, explorerTx: null },
  rules: { stuck: 'replace', expired: 'park', abandoned: 'cancel' },
  ...{ lastAttempt: 1, isAbandoned: false, isFollowed: true, isUnsigned: false },
};

import type { SigningClaims } from '../messages/order';
import type { SignTransactionRequest } from '../messages/signing';
import { toHex } from '../platform/hex';
import type { AdmissionRequest } from './admission';
import { toAttemptKind } from './open-order';
import type { VerifiedOrder } from './order-verifier';
import { settlementIn } from './verify/ordered';
import type { VerifiedTransaction } from './verify-intent';

/** Who takes part in a signature beside this node. */
export type Participants = Pick<AdmissionRequest, 'peer' | 'initiator'>;

/** What the journal is asked about one payload of an ordered transaction that this node has verified. */
export function toAdmissionRequest(
  { claims, hash }: VerifiedOrder<SigningClaims['kind']>,
  { payloads, messageKey, resources, spends }: VerifiedTransaction,
  { order: compact, unsigned }: Pick<SignTransactionRequest, 'order' | 'unsigned'>,
  payload: number,
  keyId: string,
  { proofs, ...participants }: Participants & Pick<AdmissionRequest, 'proofs'>,
): AdmissionRequest {
  const settled = settlementIn(claims);
  return {
    ...participants,
    txId: claims.tx_id,
    attempt: claims.attempt,
    kind: toAttemptKind(claims),
    orderHash: hash,
    orderSeq: claims.seq,
    order: { jti: claims.jti, compact, unsigned },
    resources,
    digests: payloads.map(({ digest }) => toHex(digest)),
    ...(payloads.length > 1 && { messageKey }),
    payload,
    keyId,
    clientId: claims.client_id,
    ...(settled && { onBehalfOf: settled.client_id }),
    spends,
    ...(proofs && { proofs }),
  };
}

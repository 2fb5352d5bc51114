import type { EntityManager } from 'typeorm';
import { audit, type AuditActor } from '../audit/log';
import type { FailureCode } from '../platform/codes';
import type { TransactionEntity } from '../transactions/entity';

/** Who signs and refuses. */
export const signingNodes: AuditActor = { type: 'system', id: 'signing-nodes' };

/** With these codes a transfer waits for an operator because signing nodes refuse it. */
const refusalCodes: readonly FailureCode[] = ['order_refused', 'intent_mismatch', 'node_policy', 'key_peer_banned', 'key_frozen'];

export const isSigningRefused = (code: FailureCode): boolean => refusalCodes.includes(code);

type Subject = Pick<TransactionEntity, 'txId' | 'clientId' | 'requestId'>;

/** Two nodes have signed an attempt. Call it in the database transaction that stores the signed bytes. */
export function auditSigned(
  manager: EntityManager,
  transfer: Subject,
  detail: { attempt: number; kind: string; tx_hash: string },
): Promise<void> {
  return auditNodes(manager, transfer, { action: 'transfer.signed', outcome: 'success', detail });
}

/** Signing nodes refuse. Call it in the database transaction that stores what follows from it. */
export function auditSigningRefused(
  manager: EntityManager,
  transfer: Subject,
  detail: { code: FailureCode; reason: string; node?: number; attempt?: number },
): Promise<void> {
  return auditNodes(manager, transfer, { action: 'transfer.signing_refused', outcome: 'refused', detail });
}

function auditNodes(
  manager: EntityManager,
  { txId, clientId, requestId }: Subject,
  event: Pick<Parameters<typeof audit>[1], 'action' | 'outcome' | 'detail'>,
): Promise<void> {
  return audit(manager, { ...event, actor: signingNodes, clientId, subject: { type: 'transaction', id: txId }, requestId });
}

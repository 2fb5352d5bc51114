import type { EntityManager } from 'typeorm';
import { audit, type AuditActor } from '../../audit/log';
import type { NodeProblem } from '../../messages/transfer';
import type { FailureCode } from '../../platform/codes';
import type { TransactionEntity } from '../../transactions/entity';

/** Who signs and refuses. */
export const signingNodes: AuditActor = { type: 'system', id: 'signing-nodes' };

/** With these codes a transfer waits for an operator because signing nodes refuse it. */
const refusalCodes: readonly FailureCode[] = ['order_refused', 'intent_mismatch', 'node_policy', 'key_peer_banned', 'key_frozen'];

export const isSigningRefused = (code: FailureCode): boolean => refusalCodes.includes(code);

/** What nodes answer that refuse to sign, also one node alone, after which another pair may sign. */
const nodeRefusalCodes: readonly FailureCode[] = [...refusalCodes, 'address_blacklisted', 'reissue_unproven'];
/** Rows of one attempt at most: the worker says what they are. */
const maxRefusals = 20;
/** Characters. */
const maxReason = 500;

type Subject = Pick<TransactionEntity, 'txId' | 'clientId' | 'requestId'>;

/** Two nodes have signed an attempt. Call it in the database transaction that stores the signed bytes. */
export function auditSigned(
  manager: EntityManager,
  transfer: Subject,
  detail: { attempt: number; kind: string; tx_hash: string | null },
): Promise<void> {
  return auditNodes(manager, transfer, { action: 'transfer.signed', outcome: 'success', detail });
}

/** Refusals of nodes on the way to the signature of an attempt. Call it beside `auditSigned`. */
export async function auditRefusedBefore(
  manager: EntityManager,
  transfer: Subject,
  { attempt, problems }: { attempt: number; problems: readonly NodeProblem[] },
): Promise<void> {
  const refusals = problems.filter(({ code }) => nodeRefusalCodes.includes(code)).slice(0, maxRefusals);
  for (const { node, code, reason } of refusals)
    await auditSigningRefused(manager, transfer, { code, reason: reason.slice(0, maxReason), node, attempt });
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

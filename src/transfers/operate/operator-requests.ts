import type { EntityManager } from 'typeorm';

export interface AbandonRequest {
  txId: string;
  /** Number of the newest attempt that the operator saw. */
  attempt: number;
  operator: string;
}

/** That an operator wants a transfer abandoned, on record before anybody acts on it. */
export async function recordAbandonRequest(manager: EntityManager, { txId, attempt, operator }: AbandonRequest): Promise<void> {
  await manager.query(`insert into operator_requests (tx_id, kind, attempt, operator) values ($1, 'abandon', $2, $3)`, [
    txId,
    attempt,
    operator,
  ]);
}

/** The operator wants it no longer, or the workflow has refused. No effect without a request. */
export async function withdrawAbandonRequest(
  manager: EntityManager,
  { txId, operator }: Omit<AbandonRequest, 'attempt'>,
): Promise<void> {
  await manager.query(
    `insert into operator_requests (tx_id, kind, attempt, operator)
     select tx_id, 'withdrawal', attempt, $2 from (${newest}) r where kind = 'abandon'`,
    [txId, operator],
  );
}

/**
 * Whether an operator wants the transfer abandoned, knowing `attempt` as its newest. The cancellation that follows is a newer attempt,
 * so a request is used once.
 */
export async function isAbandonRequested(manager: EntityManager, txId: string, attempt: number): Promise<boolean> {
  const [request] = await manager.query<{ kind: string; attempt: number }[]>(newest, [txId]);
  return request?.kind === 'abandon' && request.attempt === attempt;
}

/** The same at the time when a later attempt was begun, whatever the operator has asked for since then. */
export async function wasAbandonRequested(
  manager: EntityManager,
  txId: string,
  { attempt, next }: { attempt: number; next: number },
): Promise<boolean> {
  const [request] = await manager.query<{ kind: string; attempt: number }[]>(
    `select r.kind, r.attempt from operator_requests r join transfer_attempts a on a.tx_id = r.tx_id and a.attempt = $2
      where r.tx_id = $1 and r.requested_at <= a.signing_begun_at order by r.request_id desc limit 1`,
    [txId, next],
  );
  return request?.kind === 'abandon' && request.attempt === attempt;
}

const newest = 'select tx_id, kind, attempt from operator_requests where tx_id = $1 order by request_id desc limit 1';

import type { EntityManager } from 'typeorm';

export type OperatorRequestKind = 'abandon';

export interface OperatorRequest {
  txId: string;
  kind: OperatorRequestKind;
  operator: string;
}

/** What an operator asks for, on record before anybody acts on it. */
export async function recordRequest(manager: EntityManager, { txId, kind, operator }: OperatorRequest): Promise<void> {
  await manager.query('insert into operator_requests (tx_id, kind, operator) values ($1, $2, $3)', [txId, kind, operator]);
}

export async function isRequested(manager: EntityManager, txId: string, kind: OperatorRequestKind): Promise<boolean> {
  const rows = await manager.query<unknown[]>('select 1 from operator_requests where tx_id = $1 and kind = $2 limit 1', [
    txId,
    kind,
  ]);
  return rows.length > 0;
}

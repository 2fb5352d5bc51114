import type { DataSource, EntityManager } from 'typeorm';
import type { FailureCode } from '../../platform/codes';
import type { GatewayError } from '../../platform/errors';

/** How long one copy of the API has for a request before another one takes it. */
const leaseSeconds = 30;
/** Until a request that could not be carried out is tried again. */
const retrySeconds = 2;
/** A payment that is made much later than somebody has asked for it is a surprise: it is refused. */
export const maxMinutes = 10;

/** On record before anything is done; no effect while another operator's request for the same transfer is open. */
export async function storeRedoRequest(manager: EntityManager, request: { txId: string; operator: string }): Promise<void> {
  await manager.query(
    `insert into redo_requests (tx_id, operator) values ($1, $2) on conflict (tx_id) where ended_at is null do nothing`,
    [request.txId, request.operator],
  );
}

/** The newest request for a transfer. */
export interface RedoState {
  isOpen: boolean;
  newTxId: string | null;
  /** Why it was refused, or could not be carried out yet. */
  failure: { code: FailureCode; message: string } | null;
}

/** null: nobody has asked. */
export async function readRedoRequest(manager: EntityManager, txId: string): Promise<RedoState | null> {
  const [row] = await manager.query<{ is_open: boolean; new_tx_id: string | null; code: FailureCode | null; message: string }[]>(
    `select ended_at is null as is_open, new_tx_id, failure_code as code, failure_message as message
       from redo_requests where tx_id = $1 order by request_id desc limit 1`,
    [txId],
  );
  if (!row) return null;
  const { is_open: isOpen, new_tx_id: newTxId, code, message } = row;
  return { isOpen, newTxId, failure: code === null ? null : { code, message } };
}

export interface RedoRequest {
  requestId: string;
  txId: string;
  operator: string;
  /** Nobody expects it any more. */
  isLate: boolean;
  /** Why it could not be carried out before. */
  failureCode: FailureCode | null;
  failureMessage: string | null;
}

/** Takes open requests, oldest first; each is one process's until its lease ends. */
export async function claimRedoRequests(database: DataSource, limit: number): Promise<RedoRequest[]> {
  const [rows] = await database.query<[RedoRequest[], number]>(
    `update redo_requests set attempting_until = clock_timestamp() + interval '${leaseSeconds} s'
      where request_id in (select request_id from redo_requests where ended_at is null and attempting_until < clock_timestamp()
                            order by request_id limit $1 for update skip locked)
     returning request_id as "requestId", tx_id as "txId", operator,
               requested_at < clock_timestamp() - interval '${maxMinutes} minutes' as "isLate",
               failure_code as "failureCode", failure_message as "failureMessage"`,
    [limit],
  );
  return rows;
}

/** Stores what became of a request. False when that was stored before: only the first answer counts. */
export async function endRedoRequest(
  manager: EntityManager,
  requestId: string,
  answer: { txId: string } | GatewayError,
): Promise<boolean> {
  const [newTxId, code, message] = 'txId' in answer ? [answer.txId, null, null] : [null, answer.code, answer.message];
  const [, ended] = await manager.query<[unknown, number]>(
    `update redo_requests set ended_at = clock_timestamp(), new_tx_id = $2, failure_code = $3, failure_message = $4
      where request_id = $1 and ended_at is null`,
    [requestId, newTxId, code, message],
  );
  return ended === 1;
}

/** It is tried again; until then the reason is shown. */
export async function deferRedoRequest(
  manager: EntityManager,
  requestId: string,
  { code, message }: GatewayError,
): Promise<void> {
  await manager.query(
    `update redo_requests set attempting_until = clock_timestamp() + interval '${retrySeconds} s', failure_code = $2, failure_message = $3
      where request_id = $1 and ended_at is null`,
    [requestId, code, message],
  );
}

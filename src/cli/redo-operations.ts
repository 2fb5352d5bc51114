import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { GatewayError } from '../platform/errors';
import type { TransactionEntity } from '../transactions/entity';
import { readRedoRequest, storeRedoRequest } from '../transfers/redo/requests';
import { findRedo, whyNotRedone } from '../transfers/redo/rules';
import { auditedOperation } from './audited-operation';
import { withReason } from './confirmation';
import { findTransfer } from './find-transfer';
import { currentOperator } from './operator';

const pollMs = 150;
/** Transfers that are named at most as perhaps the same payment. */
const maxSimilar = 5;
/** How many times in a row a transfer was redone; one that was redone more often is named. */
const maxDepth = 100;

/** An ended transfer that an operator may want redone. */
export interface Redoable {
  tx: TransactionEntity;
  /** The transfer that stands in its place already. */
  made: TransactionEntity | null;
  /** Why the command does not ask for it; null: it asks. */
  refusal: GatewayError | null;
}

export interface RedoOptions {
  /** A later transfer that pays the same is another payment. */
  despiteSimilar?: true;
}

/** @throws GatewayError as findTransfer. */
export async function readRedoable(manager: EntityManager, txId: string, options: RedoOptions = {}): Promise<Redoable> {
  return judge(manager, await findTransfer(manager, txId), options);
}

async function judge(manager: EntityManager, tx: TransactionEntity, { despiteSimilar }: RedoOptions): Promise<Redoable> {
  const made = await findRedo(manager, tx);
  if (made) return { tx, made, refusal: null };
  const refusal = await whyNotRedone(manager, tx);
  return { tx, made, refusal: refusal ?? (despiteSimilar ? null : await whySimilar(manager, tx)) };
}

/**
 * A client may have paid again under a key of its own: the gateway cannot know, so that somebody has to look. What stands in the place of a
 * transfer counts as that one does: it is another payment if that was ordered before this one had ended.
 */
async function whySimilar(manager: EntityManager, tx: TransactionEntity): Promise<GatewayError | null> {
  const rows = await manager.query<{ tx_id: string }[]>(
    `select t.tx_id from transactions t
      where client_id = $1 and to_address = $2 and tx_id > $3 and account_id = $4 and asset_id = $5 and amount = $6
        and transaction_type = 'OUTBOUND' and status not in ('FAILED', 'REJECTED', 'CANCELLED') and created_at >= $7
        and not exists (
          with recursive earlier (tx_id, retry_of, created_at, depth) as (
            select t.tx_id, t.retry_of, t.created_at, 0
            union all
            select o.tx_id, o.retry_of, o.created_at, e.depth + 1 from earlier e join transactions o on o.tx_id = e.retry_of where e.depth < ${maxDepth})
          select from earlier where created_at < $7)
      order by tx_id limit ${maxSimilar}`,
    [tx.clientId, tx.toAddress, tx.txId, tx.accountId, tx.assetId, tx.amount.toString(), tx.endedAt],
  );
  if (rows.length === 0) return null;
  const ids = rows.map(({ tx_id: id }) => id).join(', ');
  return new GatewayError(
    'business_error',
    `After its end the same was paid to the same address: ${ids}. If that is another payment, redo this one alone with --despite-similar`,
  );
}

export interface RedoFilter {
  code: string;
  /** How long ago it has ended at most. */
  sinceMs: number;
  clientId?: string;
  limit: number;
}

/** Transfers that have ended with this code and that nothing was made in place of, oldest first. */
export async function findRedoable(manager: EntityManager, { code, sinceMs, clientId, limit }: RedoFilter): Promise<Redoable[]> {
  const rows = await manager.query<{ tx_id: string }[]>(
    // each client and state is a range of an index
    `select f.tx_id from clients c cross join unnest(array['FAILED', 'REJECTED', 'CANCELLED']) s (status)
       cross join lateral (
         select tx_id from transactions t
          where t.client_id = c.client_id and t.status = s.status and t.failure_code = $1 and t.transaction_type = 'OUTBOUND'
            and t.ended_at > clock_timestamp() - make_interval(secs => $2)
            and not exists (select from transactions r where r.retry_of = t.tx_id)
            and not exists (select from transactions r where r.client_id = t.client_id and r.is_held and r.idempotency_key = 'redo-' || t.tx_id
              and (r.account_id, r.asset_id, r.amount, r.to_address) = (t.account_id, t.asset_id, t.amount, t.to_address))
          order by tx_id limit $4) f
      where $3::uuid is null or c.client_id = $3 order by f.tx_id limit $4`,
    [code, sinceMs / 1000, clientId ?? null, limit],
  );
  const found: Redoable[] = [];
  for (const { tx_id: txId } of rows) {
    const redoable = await readRedoable(manager, txId);
    // one that was rebuilt after a restore is found by the hash of its key alone
    if (!redoable.made) found.push(redoable);
  }
  return found;
}

export interface Redo {
  database: DataSource;
  /** How long the answer of the API is waited for. */
  waitMs: number;
  reason?: string;
}

/** `requested`: the API has not answered yet, for the reason in `waits_for` where it has given one. */
export interface RedoResult {
  outcome: 'redone' | 'requested';
  newTxId: string | null;
  waitsFor: string | null;
}

/**
 * Asks for another transfer in place of this one, and waits until the API has made it or refused it. Two operators at once get one transfer,
 * and so do an operator and the client who sends it again under the key redo-<tx_id>.
 * @throws GatewayError with the code of the refusal.
 */
export async function redoTransfer(
  { database, waitMs, reason }: Redo,
  { txId, clientId, status }: TransactionEntity,
): Promise<RedoResult> {
  const subject = { type: 'transaction', id: txId };
  const detail = { status, ...withReason(reason) };
  await auditedOperation(database, { action: 'transfer.redo_requested', clientId, subject, detail }, (manager) =>
    storeRedoRequest(manager, { txId, operator: currentOperator().id }),
  );
  for (const until = Date.now() + waitMs; ; await delay(pollMs)) {
    const state = await readRedoRequest(database.manager, txId);
    if (state && !state.isOpen) {
      if (state.failure) throw new GatewayError(state.failure.code, state.failure.message);
      return { outcome: 'redone', newTxId: state.newTxId, waitsFor: null };
    }
    if (Date.now() > until) {
      const { failure = null } = state ?? {};
      return { outcome: 'requested', newTxId: null, waitsFor: failure && `${failure.code}: ${failure.message}` };
    }
  }
}

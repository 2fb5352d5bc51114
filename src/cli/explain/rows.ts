import type { EntityManager } from 'typeorm';
import { type AuditRow, listAuditLog } from '../../audit/list';
import { formatAmount } from '../../platform/money';
import type { TransactionEntity } from '../../transactions/entity';
import type { WebhookEntity } from '../../webhooks/entity';

/** What the database has about one transaction beside its own row. Every list has a limit. */

const maxRows = 100;

export interface PostingRow {
  at: Date;
  kind: string;
  bucket: string;
  /** Display units, with a sign; atomic units where the decimals are not known. */
  amount: string;
  symbol: string;
}

interface RawEntry extends PostingRow {
  decimals: number | null;
}

/** Entries of its postings, oldest first. */
export async function findPostings(manager: EntityManager, tx: TransactionEntity): Promise<PostingRow[]> {
  const rows = await manager.query<RawEntry[]>(
    `select p.created_at as at, p.kind, e.bucket, e.amount::text as amount, e.symbol, a.decimals
       from ledger_postings p join ledger_entries e using (posting_id)
       left join ledger_accounts a on a.ledger_account_id = e.ledger_account_id
      where p.tx_id = $1 order by p.created_at, p.posting_id, e.line limit ${maxRows}`,
    [tx.txId],
  );
  const decimals = new Map(rows.flatMap(({ symbol, decimals: known }) => (known === null ? [] : [[symbol, known] as const])));
  if (tx.feeSymbol !== null && tx.feeDecimals !== null) decimals.set(tx.feeSymbol, tx.feeDecimals);
  decimals.set(tx.tokenSymbol, tx.decimals);
  return rows.map(({ at, kind, bucket, amount, symbol }) => {
    const known = decimals.get(symbol);
    return { at, kind, bucket, amount: known === undefined ? amount : formatAmount(BigInt(amount), known), symbol };
  });
}

export interface LockedRow {
  amount: string;
  symbol: string;
}

/** What the transaction still keeps locked, by its entries. */
export async function findLocked(manager: EntityManager, txId: string): Promise<LockedRow[]> {
  const rows = await manager.query<{ amount: string; symbol: string; decimals: number }[]>(
    `select sum(e.amount)::text as amount, e.symbol, a.decimals
       from ledger_postings p join ledger_entries e using (posting_id) join ledger_accounts a using (ledger_account_id)
      where p.tx_id = $1 and e.bucket = 'LOCKED' group by e.symbol, a.decimals having sum(e.amount) <> 0 order by e.symbol`,
    [txId],
  );
  return rows.map(({ amount, symbol, decimals }) => ({ amount: formatAmount(BigInt(amount), decimals), symbol }));
}

export interface OrderRow {
  seq: number;
  kind: string;
  attempt: number;
  jti: string;
  issued_at: Date;
  expires_at: Date;
}

/** What the authoriser has permitted, oldest first; whether the orders are authentic is shown by `gateway orders show`. */
export async function findOrders(manager: EntityManager, txId: string): Promise<OrderRow[]> {
  return manager.query<OrderRow[]>(
    `select seq::float8 as seq, kind, attempt, jti, issued_at, to_timestamp((claims ->> 'exp')::float8) as expires_at
       from orders where tx_id = $1 order by seq limit ${maxRows}`,
    [txId],
  );
}

export interface DeliveryView {
  delivery_id: string;
  webhook_id: string;
  /** Scheme, host and port: the rest of the url may have a secret of the client. */
  endpoint: string;
  endpoint_status: WebhookEntity['status'];
  kind: string;
  /** Of the transaction, when it happened. */
  tx_status: string | null;
  status: string;
  attempts: number;
  last_answer: string | null;
  last_at: Date | null;
  next_attempt_at: Date | null;
}

/** Events of a state are written by the statement that changes it; their index is by time. */
const eventsWithinSeconds = 60;

/** What its client was told of it, oldest first. */
export async function findDeliveries(manager: EntityManager, txId: string): Promise<DeliveryView[]> {
  const rows = await manager.query<(Omit<DeliveryView, 'endpoint'> & { url: string })[]>(
    `select d.delivery_id, d.webhook_id, w.url, w.status as endpoint_status, e.kind,
            e.snapshot ->> 'status' as tx_status, d.status, d.attempts, coalesce(last.status_code::text, last.error) as last_answer,
            last.at as last_at, d.next_attempt_at
       from (select distinct e.event_id, e.kind, e.snapshot, e.position
               from transaction_events t join webhook_events e
                 on e.created_at between t.at - interval '${eventsWithinSeconds} s' and t.at + interval '${eventsWithinSeconds} s'
              where t.tx_id = $1 and e.subject_id = $1) e
       join webhook_deliveries d using (event_id) join webhook_endpoints w using (webhook_id)
       left join lateral (select at, status_code, error from webhook_attempts a where a.delivery_id = d.delivery_id
                           order by a.attempt desc limit 1) last on true
      order by e.position, d.webhook_id limit ${maxRows}`,
    [txId],
  );
  return rows.map(({ url, ...row }) => ({ ...row, endpoint: new URL(url).origin }));
}

/** Newest first. */
export const findAuditRows = (manager: EntityManager, txId: string): Promise<AuditRow[]> =>
  listAuditLog(manager, { subject: txId, limit: maxRows });

export interface FrozenAsset {
  asset_id: string;
  symbol: string;
  reason: string;
}

/** Assets of the account, on the chain of the transaction, of which nothing is sent until an operator has looked. */
export const findFrozen = (
  manager: EntityManager,
  { accountId, chain }: Pick<TransactionEntity, 'accountId' | 'chain'>,
): Promise<FrozenAsset[]> =>
  manager.query<FrozenAsset[]>(
    `select ledger_account_id as asset_id, symbol, frozen_reason as reason from ledger_accounts
      where account_id = $1 and chain = $2 and frozen_reason is not null order by symbol limit ${maxRows}`,
    [accountId, chain],
  );

/** Messages to its workflow that are not delivered yet. */
export const findUndelivered = (manager: EntityManager, txId: string): Promise<{ kind: string; since: Date }[]> =>
  manager.query<{ kind: string; since: Date }[]>(
    `select kind, created_at as since from workflow_outbox where subject_id = $1 order by outbox_id limit ${maxRows}`,
    [txId],
  );

export interface RelatedRow {
  tx_id: string;
  type: string;
  status: string;
}

/** Transactions that serve this one: what a settlement has cost, coins for a payer. */
export const findChildren = (manager: EntityManager, txId: string): Promise<RelatedRow[]> =>
  manager.query<RelatedRow[]>(
    // the conditions are those of the two indexes
    `select tx_id, transaction_type as type, status from transactions where parent_tx_id = $1 and is_held
     union all
     select tx_id, transaction_type, status from transactions
      where parent_tx_id = $1 and direction = 'out' and not is_held and not is_signed
      order by tx_id limit ${maxRows}`,
    [txId],
  );

import type { EntityManager } from 'typeorm';
import type { PaymentScheme, PayloadType, SettlementFailure } from '../../chains/payments';
import { isContradicted } from '../../following/inclusions';
import type { FailureCode } from '../../platform/codes';
import type { TransactionStatus } from '../../transactions/entity';

/** Of a settlement, as far as an answer depends on it. */
export interface SettlementState {
  txId: string;
  chain: string;
  scheme: PaymentScheme;
  payloadType: PayloadType;
  payer: string;
  /** Atomic units of the token. */
  amount: bigint;
  outcome: SettlementOutcome;
}

/**
 * `paid`: the chain has executed it, and may still take it back; `failed`: it never will be; `pending`: it may be. `hash`: its
 * transaction; null: none is sent, or none is known.
 */
export type SettlementOutcome =
  | { outcome: 'paid'; hash: string | null }
  | { outcome: 'failed'; failure: SettlementFailure | null; hash: string | null }
  | { outcome: 'pending'; hash: string | null; isBegun: boolean };

interface StateRow {
  tx_id: string;
  chain: string;
  scheme: PaymentScheme;
  payload_type: PayloadType;
  from_address: string;
  amount: string;
  status: TransactionStatus;
  is_ended: boolean;
  /** Something of it is signed, or was given for it. */
  is_begun: boolean;
  tx_hash: string | null;
  failure_code: FailureCode | null;
  /** Of the newest attempt that is signed and would pay. */
  newest_hash: string | null;
  /** The chain has executed a cancellation. */
  is_cancelled: boolean;
  /** Of the attempt that has paid. */
  paid_hash: string | null;
}

/** The states of these settlements, in any order. */
export async function readSettlements(manager: EntityManager, txIds: readonly string[]): Promise<SettlementState[]> {
  const rows = await manager.query<StateRow[]>(
    `select t.tx_id, t.chain, s.scheme, s.payload_type, t.from_address, t.amount, t.status, t.ended_at is not null as is_ended,
            t.signing_begun_at is not null or s.sponsoring = 'erc20_approval' as is_begun, t.tx_hash, t.failure_code,
            (select a.tx_hash from transfer_attempts a where a.tx_id = t.tx_id and a.tx_hash is not null and a.kind <> 'cancellation'
              order by a.attempt desc limit 1)
              as newest_hash,
            exists (select from transfer_attempts a where a.tx_id = t.tx_id and a.kind = 'cancellation' and a.included_id = t.tx_hash)
              as is_cancelled,
            (select a.included_id from transfer_attempts a
              where a.tx_id = t.tx_id and a.success and a.kind <> 'cancellation' and a.received >= t.amount and not ${isContradicted}
              order by a.attempt limit 1) as paid_hash
       from x402_settlements s join transactions t using (tx_id) where s.tx_id = any($1::uuid[])`,
    [txIds],
  );
  return rows.map((row) => ({
    ...{ txId: row.tx_id, chain: row.chain, scheme: row.scheme, payloadType: row.payload_type, payer: row.from_address },
    amount: BigInt(row.amount),
    outcome: toOutcome(row),
  }));
}

function toOutcome(row: StateRow): SettlementOutcome {
  const { status, paid_hash: paidHash, newest_hash: newestHash, failure_code: code } = row;
  // that of a cancellation would look like the payment's
  const hash = row.is_cancelled ? null : row.tx_hash;
  if (status === 'CONFIRMED') return { outcome: 'paid', hash };
  if (row.is_ended) return { outcome: 'failed', failure: toFailure(code, hash), hash };
  if (paidHash !== null) return { outcome: 'paid', hash: paidHash };
  return { outcome: 'pending', hash: newestHash, isBegun: row.is_begun };
}

/** null: nothing that the payer could do something about. */
function toFailure(code: FailureCode | null, hash: string | null): SettlementFailure | null {
  switch (code) {
    case 'expired':
      return 'expired';
    case 'would_revert':
      return 'refused';
    case 'transfer_not_observed':
      return 'unobserved';
    case 'reverted_on_chain':
      // without a hash: the payer's approval, or a refusal from before would_revert existed
      return hash === null ? 'refused' : 'reverted';
    default:
      return null;
  }
}

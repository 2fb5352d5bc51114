import type { EntityManager } from 'typeorm';
import type { AttemptKind, ChainDefinition } from '../chains/types';
import type { ChainObservation } from '../messages/transfer';
import type { TransactionType } from '../transactions/types';
import { depthOfEnd, endpointsNeeded } from './depth';
import { isContradicted } from './inclusions';

interface IncludedRow {
  tx_id: string;
  included_id: string;
  block_number: string;
  kind: AttemptKind;
  success: boolean;
  debited: string | null;
  received: string | null;
  agreed_by: number | null;
  is_held: boolean;
  contract_address: string | null;
  transaction_type: TransactionType;
  amount: string;
  required_confirmations: number;
  /** Its workflow may do more than wait for this attempt. */
  is_told: boolean;
  /** It was executed although it had been proven impossible, and another attempt may be executed too. */
  has_competing: boolean;
}

/** What workflows wait for, by transaction. */
interface Awaited {
  observations: Map<string, ChainObservation>;
  /**
   * Of those that are confirmed: they would end as FAILED, which every endpoint has to show first, or they end once the chain shows that no other
   * attempt can be executed. The chain is asked about them again.
   */
  unagreed: string[];
}

/**
 * What the workflows of transfers wait for: attempts that scanned blocks include, deep enough to end their transfer. That
 * a block includes one at all is only told those that might do something else in the meantime: one that signs, has several attempts or
 * is parked. Every signal costs its workflow some ten events. Nothing in a block above `limit` is confirmed.
 */
export async function findAwaited(
  manager: EntityManager,
  chain: ChainDefinition,
  scannedTo: number,
  limit = scannedTo,
): Promise<Awaited> {
  const rows = await manager.query<IncludedRow[]>(
    `select t.tx_id, a.included_id, a.block_number, a.kind, a.success, a.debited, a.received, a.agreed_by,
            t.is_held, t.contract_address, t.transaction_type, t.amount, t.required_confirmations,
            t.status <> 'SUBMITTED' or exists (select from transfer_attempts o where o.tx_id = t.tx_id and o.attempt <> a.attempt) as is_told,
            case when a.impossible_proof is null then false else exists (select from transfer_attempts o
                   where o.tx_id = t.tx_id and o.block_number is null and not is_proven_impossible(o)) end as has_competing
       from transactions t join transfer_attempts a on a.tx_id = t.tx_id and a.block_number <= $2
        and not ${isContradicted}
      where t.chain = $1 and t.ended_at is null and t.status in ('SIGNING', 'SUBMITTED', 'NEEDS_ATTENTION')
      order by a.block_number limit 10000`,
    [chain.name, scannedTo],
  );
  const awaited: Awaited = { observations: new Map(), unagreed: [] };
  for (const row of rows) {
    const { asked, outcome } = readRow(row);
    const confirmations = scannedTo - Number(row.block_number) + 1;
    const isDeep = confirmations >= depthOfEnd(asked, outcome, chain.finalityDepth);
    const isConfirmed = isDeep && Number(row.block_number) <= limit;
    if (!row.is_told && !isConfirmed) continue;
    const state = isConfirmed ? 'confirmed' : 'included';
    const blockNumber = Number(row.block_number);
    awaited.observations.set(row.tx_id, { state, hash: row.included_id, blockNumber, confirmations });
    if (isConfirmed && (row.has_competing || (row.agreed_by ?? 0) < endpointsNeeded(asked, outcome)))
      awaited.unagreed.push(row.tx_id);
  }
  return awaited;
}

function readRow(row: IncludedRow) {
  const { kind, success, transaction_type: transactionType, required_confirmations: requiredConfirmations } = row;
  return {
    asked: {
      ...{ transactionType, amount: BigInt(row.amount), requiredConfirmations },
      ...{ isHeld: row.is_held, contractAddress: row.contract_address },
    },
    outcome: { kind, success, debited: toAmount(row.debited), received: toAmount(row.received) },
  };
}

const toAmount = (text: string | null): bigint | null => (text === null ? null : BigInt(text));

/** The block is gone; whether the transaction still waits in a pool is for the workflow to ask. */
export const takenBack = (hash: ChainObservation['hash']): ChainObservation => ({
  state: 'absent',
  hash,
  blockNumber: null,
  confirmations: 0,
});

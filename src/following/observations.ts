import type { EntityManager } from 'typeorm';
import type { AttemptKind, ChainDefinition } from '../chains/types';
import type { ChainObservation } from '../messages/transfer';
import type { TransactionType } from '../transactions/types';
import { depthOfEnd } from './depth';
import { isContradicted } from './inclusions';

interface IncludedRow {
  tx_id: string;
  included_id: string;
  block_number: string;
  kind: AttemptKind;
  success: boolean;
  received: string | null;
  transaction_type: TransactionType;
  amount: string;
  required_confirmations: number;
  /** Its workflow may do more than wait for this attempt. */
  is_told: boolean;
}

/**
 * What the workflows of transfers wait for, by transaction: attempts that scanned blocks include, deep enough to end their transfer. That
 * a block includes one at all is only told those that might do something else in the meantime: one that signs, has several attempts or
 * is parked. Every signal costs its workflow some ten events.
 */
export async function findAwaited(
  manager: EntityManager,
  chain: ChainDefinition,
  scannedTo: number,
): Promise<Map<string, ChainObservation>> {
  const rows = await manager.query<IncludedRow[]>(
    `select t.tx_id, a.included_id, a.block_number, a.kind, a.success, a.received,
            t.transaction_type, t.amount, t.required_confirmations,
            t.status <> 'SUBMITTED' or exists (select from transfer_attempts o where o.tx_id = t.tx_id and o.attempt <> a.attempt) as is_told
       from transactions t join transfer_attempts a on a.tx_id = t.tx_id and a.block_number <= $2
        and not ${isContradicted}
      where t.chain = $1 and t.ended_at is null and t.status in ('SIGNING', 'SUBMITTED', 'NEEDS_ATTENTION')
      order by a.block_number limit 10000`,
    [chain.name, scannedTo],
  );
  return new Map(
    rows.flatMap((row) => {
      const observation = toObservation(row, scannedTo, chain.finalityDepth);
      return row.is_told || observation.state === 'confirmed' ? [[row.tx_id, observation] as const] : [];
    }),
  );
}

function toObservation(row: IncludedRow, scannedTo: number, finalityDepth: number): ChainObservation {
  const blockNumber = Number(row.block_number);
  const confirmations = scannedTo - blockNumber + 1;
  const { kind, success, transaction_type: transactionType, required_confirmations: requiredConfirmations } = row;
  const needed = depthOfEnd(
    { transactionType, amount: BigInt(row.amount), requiredConfirmations },
    { kind, success, received: row.received === null ? null : BigInt(row.received) },
    finalityDepth,
  );
  return { state: confirmations >= needed ? 'confirmed' : 'included', hash: row.included_id, blockNumber, confirmations };
}

/** The block is gone; whether the transaction still waits in a pool is for the workflow to ask. */
export const takenBack = (hash: ChainObservation['hash']): ChainObservation => ({
  state: 'absent',
  hash,
  blockNumber: null,
  confirmations: 0,
});

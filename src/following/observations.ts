import type { EntityManager } from 'typeorm';
import type { AttemptKind, ChainDefinition } from '../chains/types';
import type { ChainObservation } from '../messages/transfer';
import type { TransactionType } from '../transactions/types';
import { depthOfEnd, hasNotPaid } from './depth';
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

/** What workflows wait for, by transaction. */
interface Awaited {
  observations: Map<string, ChainObservation>;
  /** Of those that are confirmed: executed without having paid all, as the stored effect says. */
  unpaid: string[];
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
    `select t.tx_id, a.included_id, a.block_number, a.kind, a.success, a.received,
            t.transaction_type, t.amount, t.required_confirmations,
            t.status <> 'SUBMITTED' or exists (select from transfer_attempts o where o.tx_id = t.tx_id and o.attempt <> a.attempt) as is_told
       from transactions t join transfer_attempts a on a.tx_id = t.tx_id and a.block_number <= $2
        and not ${isContradicted}
      where t.chain = $1 and t.ended_at is null and t.status in ('SIGNING', 'SUBMITTED', 'NEEDS_ATTENTION')
      order by a.block_number limit 10000`,
    [chain.name, scannedTo],
  );
  const awaited: Awaited = { observations: new Map(), unpaid: [] };
  for (const row of rows) {
    const { asked, outcome } = readRow(row);
    const confirmations = scannedTo - Number(row.block_number) + 1;
    const isDeep = confirmations >= depthOfEnd(asked, outcome, chain.finalityDepth);
    const isConfirmed = isDeep && Number(row.block_number) <= limit;
    if (!row.is_told && !isConfirmed) continue;
    const state = isConfirmed ? 'confirmed' : 'included';
    const blockNumber = Number(row.block_number);
    awaited.observations.set(row.tx_id, { state, hash: row.included_id, blockNumber, confirmations });
    if (isConfirmed && hasNotPaid(asked, outcome)) awaited.unpaid.push(row.tx_id);
  }
  return awaited;
}

function readRow(row: IncludedRow) {
  const { kind, success, received, transaction_type: transactionType, required_confirmations: requiredConfirmations } = row;
  return {
    asked: { transactionType, amount: BigInt(row.amount), requiredConfirmations },
    outcome: { kind, success, received: received === null ? null : BigInt(received) },
  };
}

/** The block is gone; whether the transaction still waits in a pool is for the workflow to ask. */
export const takenBack = (hash: ChainObservation['hash']): ChainObservation => ({
  state: 'absent',
  hash,
  blockNumber: null,
  confirmations: 0,
});

import type { EntityManager } from 'typeorm';

/** What has left the gateway according to the postings of a transaction, adjustments included; atomic units. */
export interface Posted {
  /** Of the token. */
  outside: bigint;
  /** Of the native coin. */
  fees: bigint;
}

/** `feeSymbol`: of the native coin. */
export async function findPosted(
  manager: EntityManager,
  { txId, symbol, feeSymbol }: { txId: string; symbol: string; feeSymbol: string | null },
): Promise<Posted> {
  const [row] = await manager.query<{ outside: string; fees: string }[]>(
    `select coalesce(sum(e.amount) filter (where e.bucket = 'EXTERNAL' and e.symbol = $2), 0) as outside,
            coalesce(sum(e.amount) filter (where e.bucket = 'FEES' and e.symbol = $3), 0) as fees
       from ledger_postings p join ledger_entries e using (posting_id) where p.tx_id = $1`,
    [txId, symbol, feeSymbol],
  );
  return { outside: BigInt(row?.outside ?? 0), fees: BigInt(row?.fees ?? 0) };
}

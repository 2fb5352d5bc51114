import type { EntityManager } from 'typeorm';
import type { Payment } from '../../chains/payments';

/** A settlement is abandoned after this time, whatever the payer has signed: those of the same account behind it wait for its nonce. */
const longestSeconds = 60 * 60;

/** Until a transaction is in a block. */
const blocksToInclusion = 2;

/** Less time than this is not enough for a transaction to be signed and included. */
export const minLeftMs = 6_000;

/** Whether a payment that is accepted now can be expected to be executed in time: what is too late costs a fee for nothing. */
export const hasTimeLeft = ({ chain, lastSecond }: Pick<Payment, 'chain' | 'lastSecond'>): boolean =>
  Number(lastSecond) * 1000 - Date.now() >= minLeftMs + blocksToInclusion * chain.blockTimeMs;

/**
 * Milliseconds, by the clock of the database, until a settlement is abandoned: with the end of what the payer has signed, and not later
 * than an hour after it was accepted. Negative once it is.
 */
export async function settlementTimeLeft(manager: EntityManager, txId: string): Promise<number> {
  const [row] = await manager.query<{ left: number }[]>(
    `select floor(extract(epoch from least(to_timestamp(window_end + 1), created_at + make_interval(secs => $2)) - clock_timestamp())
            * 1000)::float8 as left
       from x402_settlements where tx_id = $1`,
    [txId, longestSeconds],
  );
  if (!row) throw new Error(`transaction ${txId} does not say what it settles`);
  return row.left;
}

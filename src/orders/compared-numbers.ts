/**
 * Orders this much older than the newest one of a database are compared too. Numbers are taken before commits, so that a backup may
 * lack orders that are somewhat older than its newest one; and after a restore the same numbers may have been given to other orders.
 */
export const numberOverlap = 1_000;

/** The highest number here, less the overlap; $1 is the overlap. */
export const overlappedNumber = '(select greatest(coalesce(max(seq), 0) - $1::bigint, 0) from orders)';

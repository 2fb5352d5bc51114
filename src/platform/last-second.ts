/** The end of the year 9999, seconds since the epoch: Postgres has times for all seconds up to it. */
const latest = 253_402_300_799n;

/** A time as it is stored and ordered: later ones that a payer has signed are written as the end of the year 9999. */
export const capSecond = (second: bigint): bigint => (second < latest ? second : latest);

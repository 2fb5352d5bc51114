/**
 * What the settler pays for: the network's fee is 5,000 lamports for each signature, and the price of all units of the limit. The
 * specification of the scheme advises these; with two signatures a payment costs 30,000 lamports at most.
 */
export const maxPaymentUnits = 400_000;
/** Millionths of a lamport for a unit. */
export const maxPaymentPrice = 50_000n;
/** Of the settler and of the payer. */
export const maxSigners = 2;
/**
 * Blocks behind the one that a payment refers to, of the 150 for which its hash is good: the rest, 6 to 12 seconds, are for signing it and for
 * its way into a block.
 */
export const maxBlockAge = 120;
/**
 * A block hash is good for 150 blocks, 30 to 90 seconds, and only the chain knows how many are left: this is the longest that a payment
 * can be open; seconds.
 */
export const maxLifeSeconds = 90;

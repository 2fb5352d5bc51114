/** Of the account in which the chain keeps the hashes of its newest 150 blocks, the newest first (solana-sysvar: RecentBlockhashes). */
export const recentHashes = 'SysvarRecentB1ockHashes11111111111111111111';

/** A length of 8 bytes; then hash, and what a signature cost once. */
const firstAt = 8;
const entryBytes = 32 + 8;

/**
 * How many blocks there are behind the one with this hash (32 bytes); null: it is not among those that the account names. `data`: of the account.
 */
export function blockAge(data: Buffer, blockhash: Buffer): number | null {
  for (let at = firstAt; at + entryBytes <= data.length; at += entryBytes)
    if (data.subarray(at, at + 32).equals(blockhash)) return (at - firstAt) / entryBytes;
  return null;
}

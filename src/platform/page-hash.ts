import { createHash } from 'node:crypto';

/** As in `BlacklistChanges`. */
interface Change {
  chain: string;
  addressKey: string;
  listed: boolean;
}

/** SHA-256 in hex over the changes of a page of a blacklist in their order: JSON of [chain, address key, listed] for each. */
export function hashPage(changes: readonly Change[]): string {
  const rows = changes.map(({ chain, addressKey, listed }) => [chain, addressKey, listed]);
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex');
}

import { createHash } from 'node:crypto';
import type { BlacklistChanges } from '../messages/blacklist';

/** SHA-256 in hex over a page's changes in their order: JSON of [chain, address key, listed] for each. */
export function hashPage(changes: BlacklistChanges['changes']): string {
  const rows = changes.map(({ chain, addressKey, listed }) => [chain, addressKey, listed]);
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex');
}

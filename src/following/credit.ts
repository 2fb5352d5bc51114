import type { EntityManager } from 'typeorm';
import * as inclusions from './inclusions';
import type { FollowOptions } from './ports';

/** Batches of deposits credited at once; more wait for the next call. */
const maxRounds = 20;

/**
 * Credits deposits and marks ends as final, as far as scanned blocks make them deep enough and none is above `limit`. Call it in a database
 * transaction that holds the cursor's row.
 */
export async function credit(
  manager: EntityManager,
  { chain, deposits }: Pick<FollowOptions, 'chain' | 'deposits'>,
  scannedTo: number,
  limit: number,
): Promise<void> {
  // depth is counted to the newest block that is chained to the stored ones, not to what a node calls its head
  for (let round = 0; round < maxRounds; round += 1) {
    if ((await deposits.confirmDeposits(manager, chain, scannedTo, Math.min(scannedTo, limit))) === 0) break;
  }
  await inclusions.finalize(manager, chain.name, Math.min(scannedTo - chain.finalityDepth + 1, limit));
}

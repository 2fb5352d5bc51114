import type { FollowOptions } from './ports';
import * as store from './store';

/** Stored blocks compared per step. */
const forkStep = 32;

/** Number of the newest stored block below `before` that the chain still has; null when it has none of them. */
export async function findFork(
  { chain, client, database, heartbeat }: Pick<FollowOptions, 'chain' | 'client' | 'database' | 'heartbeat'>,
  nextBlock: number,
): Promise<number | null> {
  for (let before = nextBlock; ;) {
    const stored = await store.storedBlocksBelow(database.manager, chain.name, before, forkStep);
    const oldest = stored.at(-1);
    if (!oldest) return null;
    const now = await Promise.all(stored.map(({ number }) => client.block(number)));
    const same = stored.find(({ hash }, index) => now[index]?.hash === hash);
    if (same) return same.number;
    before = oldest.number;
    heartbeat({ nextBlock, head: null, endpoint: client.endpoint });
  }
}

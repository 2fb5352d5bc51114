import type { DevChain } from './chain';

const lookEveryMs = 1_000;
const idleAfterMs = 5 * 60_000;
const idleBlockSeconds = 10;

/**
 * Slows down a chain on which nothing happens: Anvil keeps and rewrites every block it ever made, so a stack left running over
 * a night at a block a second would end up doing nothing else. The first transaction that waits brings the pace back.
 * Returns what stops it.
 */
export function paceChain(chain: DevChain, blockTimeSeconds: number): () => void {
  let busyAtMs = Date.now();
  let looking = false;
  const look = async (): Promise<void> => {
    const [latest, { pending }, seconds] = await Promise.all([chain.getBlock(), chain.getTxpoolStatus(), intervalOf(chain)]);
    const waiting = pending > 0;
    if (waiting || latest.transactions.length > 0) busyAtMs = Date.now();
    const wanted = Date.now() - busyAtMs < idleAfterMs ? blockTimeSeconds : Math.max(idleBlockSeconds, blockTimeSeconds);
    // null: somebody has set mining by hand, which is left alone
    if (seconds === null || seconds === wanted) return;
    await chain.setIntervalMining({ interval: wanted });
    if (waiting) await chain.mine({ blocks: 1 });
  };
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    void look()
      .catch(() => undefined)
      .finally(() => (looking = false));
  }, lookEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}

async function intervalOf(chain: DevChain): Promise<number | null> {
  const request = chain.request as unknown as (call: { method: string; params: [] }) => Promise<number | null>;
  return request({ method: 'anvil_getIntervalMining', params: [] });
}

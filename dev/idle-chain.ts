import type { DevChain } from './chain';

const pollMs = 1_000;
const idleAfterMs = 5 * 60_000;
const idleBlockSeconds = 10;

/**
 * Makes blocks less often on an idle chain: Anvil stores and rewrites all blocks, so that a stack running overnight with a block per
 * second would become very slow. The first pending transaction restores the normal interval. Returns a function that stops it.
 */
export function slowDownWhenIdle(chain: DevChain, blockTimeSeconds: number): () => void {
  let lastActiveMs = Date.now();
  let polling = false;
  const poll = async (): Promise<void> => {
    const [latest, { pending }, seconds] = await Promise.all([chain.getBlock(), chain.getTxpoolStatus(), getInterval(chain)]);
    const waiting = pending > 0;
    if (waiting || latest.transactions.length > 0) lastActiveMs = Date.now();
    const wanted = Date.now() - lastActiveMs < idleAfterMs ? blockTimeSeconds : Math.max(idleBlockSeconds, blockTimeSeconds);
    // null: the mining mode was changed manually and stays as it is
    if (seconds === null || seconds === wanted) return;
    await chain.setIntervalMining({ interval: wanted });
    if (waiting) await chain.mine({ blocks: 1 });
  };
  const timer = setInterval(() => {
    if (polling) return;
    polling = true;
    void poll()
      .catch(() => undefined)
      .finally(() => (polling = false));
  }, pollMs);
  timer.unref();
  return () => clearInterval(timer);
}

async function getInterval(chain: DevChain): Promise<number | null> {
  const request = chain.request as unknown as (call: { method: string; params: [] }) => Promise<number | null>;
  return request({ method: 'anvil_getIntervalMining', params: [] });
}

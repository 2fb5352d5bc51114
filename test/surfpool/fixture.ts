import { getFamily } from '../../src/chains/families';
import { SolanaChainClient } from '../../src/chains/solana/client';
import { solanaChain } from '../solana';
import { createChainFixture } from '../integration/following/chain-fixture';
import { SurfpoolChain } from './chain';

/** Skipped where `npm run test:surfpool` has said why there is no validator. */
export const onSurfpool = process.env.SURFPOOL_VALIDATOR ? test : test.skip;

/** Of the Token program: what they cost is the chain's to say. */
export const tokenAccountBytes = 165n;

/** As the public clusters are defined. */
const finality = { finalityDepth: 32 };

/** A chain of surfpool with two accounts, and everything between them but Temporal and the nodes that sign. */
export async function createSurfpoolFixture() {
  const solana = await SurfpoolChain.open();
  const client = new SolanaChainClient({ ...solanaChain, ...finality }, [`${solana.local.url}?rate=1000`]);
  const fixture = await createChainFixture({ client, getFamily, symbols: ['SOL', 'USDC'] });
  const mine = async (blocks = 1): Promise<void> => {
    if (blocks > 0) await solana.mine(blocks);
  };
  const close = async (): Promise<void> => {
    await fixture.close();
    await solana.local.stop();
  };
  return { ...fixture, solana, client, mine, close };
}

export type SurfpoolFixture = Awaited<ReturnType<typeof createSurfpoolFixture>>;

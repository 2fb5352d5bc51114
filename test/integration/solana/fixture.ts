import type { AccountEntity } from '../../../src/accounts/entity';
import { getFamily } from '../../../src/chains/families';
import { SolanaChainClient } from '../../../src/chains/solana/client';
import type { ChainDefinition } from '../../../src/chains/types';
import { solanaChain } from '../../solana';
import { TestChain } from '../../solana-chain';
import { createChainFixture, direct, type Route } from '../following/chain-fixture';

/** Blocks behind the head at which a block is confirmed, and finalized. */
const lags = { confirmed: 1, finalized: 2 };

export interface SolanaOptions {
  changes?: Partial<ChainDefinition>;
  route?: Route;
  /** Blocks are made by the clock, so many milliseconds apart; else by the test. */
  slotMs?: number;
}

const pauseMs = 50;

/** A local Solana chain with two accounts, and everything between them but Temporal and the nodes that sign. */
export async function createSolanaFixture({ changes = {}, route = direct, slotMs }: SolanaOptions = {}) {
  const isMining = slotMs !== undefined;
  const chain = await TestChain.start({ ...lags, skipEvery: 0, isMining, ...(isMining && { slotMs }) });
  const { client: local } = chain;
  const client = new SolanaChainClient({ ...solanaChain, ...changes }, [`${await route(chain.local.url)}?rate=1000`]);
  const fixture = await createChainFixture({ client, getFamily, symbols: ['SOL', 'USDC'] });
  /** So that as many are finalized with what waits now. */
  const mine = async (blocks = 1): Promise<void> => {
    if (blocks > 0 && !isMining) await chain.mine(blocks + lags.finalized);
    if (!isMining) return;
    const height = async (): Promise<number> => (await local.status()).finalized;
    for (const until = (await height()) + blocks + lags.finalized; (await height()) < until;)
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
  };
  /** Atomic units; of SOL unless a token is named. */
  const send = ({ address }: Pick<AccountEntity, 'address'>, amount: bigint, token?: string): Promise<string> =>
    token === undefined ? local.fund(address, amount) : local.fundToken(token, address, amount);
  const close = async (): Promise<void> => {
    await fixture.close();
    await chain.local.stop();
  };
  return { ...fixture, solana: chain, local, client, mine, send, close };
}

export type SolanaFixture = Awaited<ReturnType<typeof createSolanaFixture>>;

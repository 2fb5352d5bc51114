import type { HDKey } from '@scure/bip32';
import type { AccountEntity } from '../../../src/accounts/entity';
import { getFamily } from '../../../src/chains/families';
import { TronChainClient } from '../../../src/chains/tron/client';
import type { ChainDefinition } from '../../../src/chains/types';
import { clockOf, tronDefinition } from '../../tron-client';
import { TestChain } from '../../tron-simulator';
import { createChainFixture, direct, type Route } from '../following/chain-fixture';

/** A block is solidified when so many follow it. */
const solidLag = 2;

export interface TronOptions {
  changes?: Partial<ChainDefinition>;
  route?: Route;
  /** Names of endpoints of the simulator, in the order in which they are asked; without any it is the simulator itself. */
  endpoints?: string[];
  /** In place of a random one. */
  key?: HDKey;
  /** Of the simulated chain: how much later the next block is. */
  blockMs?: number;
  /** Blocks are made by the clock. */
  isMining?: boolean;
}

const pauseMs = 50;

/** A simulated Tron chain with two accounts, and everything between them but Temporal and the nodes that sign. */
export async function createTronFixture(options: TronOptions = {}) {
  const { changes = {}, route = direct, endpoints = [], key, blockMs = 1_000, isMining = false } = options;
  const chain = await TestChain.start({ solidLag, blockMs, isMining });
  const now = isMining ? Date.now : clockOf(chain);
  const url = await route(chain.url);
  const connect = (names: string[]) => {
    const urls = names.length > 0 ? names.map((name) => `${url}/endpoint/${name}`) : [url];
    return new TronChainClient(
      tronDefinition(changes),
      urls.map((it) => `${it}?rate=1000`),
      now,
    );
  };
  const client = connect(endpoints);
  const fixture = await createChainFixture({ client, getFamily, symbols: ['TRX', 'USDT'], ...(key && { key }) });
  const height = async (): Promise<number> => (await chain.control('status')).solidified;
  /** So that as many are solidified with what waits now. */
  const mine = async (blocks = 1): Promise<void> => {
    if (blocks > 0 && !isMining) await chain.control('mine', { blocks: blocks + solidLag });
    if (!isMining) return;
    for (const until = (await height()) + blocks + solidLag; (await height()) < until;)
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
  };
  const send = ({ address }: Pick<AccountEntity, 'address'>, amount: bigint, token?: string) =>
    chain.control('faucet', { address, amount: amount.toString(), ...(token && { token }) });
  const close = async (): Promise<void> => {
    await fixture.close();
    await chain.stop();
  };
  return { ...fixture, simulated: chain, client, connect, mine, send, close };
}

export type TronFixture = Awaited<ReturnType<typeof createTronFixture>>;

import { createWalletClient, http, type Hex } from 'viem';
import { createChainActivities } from '../../../activities/chain';
import type { AccountEntity } from '../../../src/accounts/entity';
import { EvmChainClient } from '../../../src/chains/evm/client';
import { getFamily } from '../../../src/chains/families';
import type { ChainDefinition } from '../../../src/chains/types';
import { contractArtifacts } from '../../../dev/contracts';
import { localChain, rich, startAnvil } from '../chains/anvil';
import { createChainFixture, direct, type Route } from './chain-fixture';

/** An EVM chain with two accounts, and everything between them but Temporal and the nodes that sign. */
export async function createFollowFixture(changes: Partial<ChainDefinition> = {}, route: Route = direct) {
  const anvil = await startAnvil({ noMining: true });
  const usdc = await anvil.deploy('TestUSDC');
  const chain = localChain('ethereum', { USDC: usdc }, changes);
  const client = new EvmChainClient(chain, [await route(anvil.url)]);
  const fixture = await createChainFixture({ client, getFamily, symbols: ['ETH', 'USDC'] });

  const mine = (blocks = 1) => anvil.client.mine({ blocks });
  const outside = createWalletClient({ account: rich[0], transport: http(anvil.url) });
  const send = (account: Pick<AccountEntity, 'address'>, value: bigint) =>
    outside.sendTransaction({ chain: null, to: account.address as Hex, value });
  const mint = async (account: Pick<AccountEntity, 'address'>, value: bigint) =>
    outside.writeContract({
      chain: null,
      address: usdc,
      abi: (await contractArtifacts()).TestUSDC.abi,
      functionName: 'mint',
      args: [account.address, value],
    });
  /** What the gateway does on the chain where it finds it at these endpoints. */
  const clientAt = (...urls: string[]) => new EvmChainClient(chain, urls);
  const at = (...urls: string[]) =>
    createChainActivities({ ...fixture.options, clients: new Map([[chain.name, clientAt(...urls)]]) });
  const close = async () => {
    await fixture.close();
    await anvil.stop();
  };
  return { ...fixture, anvil, client, clientAt, at, mine, send, mint, outside, close };
}

export type FollowFixture = Awaited<ReturnType<typeof createFollowFixture>>;

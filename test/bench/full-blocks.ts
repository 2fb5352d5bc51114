import { createWalletClient, http, type Hex } from 'viem';
import type { FollowFixture } from '../integration/following/fixture';
import { rich } from '../integration/chains/anvil';

/** Mines blocks with transactions of strangers; every tenth is a deposit of one wei. */
export async function mineFullBlocks(
  { anvil, alice, mine }: Pick<FollowFixture, 'anvil' | 'alice' | 'mine'>,
  { blocks, perBlock }: { blocks: number; perBlock: number },
): Promise<void> {
  const wallets = rich.map((account) => createWalletClient({ account, transport: http(anvil.url) }));
  const nonces = await Promise.all(rich.map(({ address }) => anvil.client.getTransactionCount({ address })));
  const fees = { gas: 21_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n };
  const send = (index: number) => {
    const by = index % rich.length;
    const nonce = nonces[by] ?? 0;
    nonces[by] = nonce + 1;
    const to = index % 10 === 0 ? alice.address : rich[(by + 1) % rich.length]?.address;
    const wallet = wallets[by] as (typeof wallets)[number];
    return wallet.sendTransaction({ chain: null, to: to as Hex, value: 1n, nonce, ...fees });
  };
  for (let block = 0; block < blocks; block += 1) {
    await Promise.all(Array.from({ length: perBlock }, (_, index) => send(index)));
    await mine();
  }
}

import type { FollowFixture } from '../integration/following/fixture';
import { rich } from '../integration/chains/anvil';

/** Mines blocks with transactions of strangers; every tenth, or as given, is a deposit of one wei. */
export async function mineFullBlocks(
  { anvil, alice, mine }: Pick<FollowFixture, 'anvil' | 'alice' | 'mine'>,
  { blocks, perBlock, depositEvery = 10 }: { blocks: number; perBlock: number; depositEvery?: number },
): Promise<void> {
  const nonces = await Promise.all(rich.map(({ address }) => anvil.client.getTransactionCount({ address })));
  const fees = { gas: '0x5208', maxFeePerGas: '0x2540be400', maxPriorityFeePerGas: '0x1' };
  const toCall = (index: number) => {
    const by = index % rich.length;
    const nonce = nonces[by] ?? 0;
    nonces[by] = nonce + 1;
    const to = index % depositEvery === 0 ? alice.address : rich[(by + 1) % rich.length]?.address;
    const sent = { from: rich[by]?.address, to, value: '0x1', nonce: `0x${nonce.toString(16)}`, ...fees };
    return { jsonrpc: '2.0', id: index, method: 'eth_sendTransaction', params: [sent] };
  };
  for (let block = 0; block < blocks; block += 1) {
    // signed by the node, for whom that takes a tenth of the time
    const body = JSON.stringify(Array.from({ length: perBlock }, (_, index) => toCall(index)));
    const answer = await fetch(anvil.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const refused = ((await answer.json()) as { error?: { message: string } }[]).find(({ error }) => error);
    if (refused) throw new Error(`a transaction was refused: ${refused.error?.message}`);
    await mine();
  }
}

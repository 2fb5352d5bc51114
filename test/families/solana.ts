import { ed25519 } from '@noble/curves/ed25519.js';
import { address, createSolanaRpc, type Signature } from '@solana/kit';
import { isLitesvmInstalled } from '../../dev/solana-chain';
import { solanaCodec } from '../solana';
import type { FamilyFixture, NodeView } from './fixture';
import { invalidSolanaAddresses } from './solana-addresses';

const newAddress = (): string => solanaCodec.address(ed25519.keygen().publicKey).address;

export const solanaFixture: FamilyFixture = {
  chain: 'solana',
  symbol: 'SOL',
  decimals: 9,
  isInstalled: isLitesvmInstalled(),
  amount: (text) => text,
  newAddress,
  // Base58 has one text for 32 bytes
  spellings: () => [],
  // what belongs to a program is refused, unless the client says so: test/e2e/solana.test.ts
  destinations: () => ({ 'new to the chain': newAddress() }),
  invalidAddresses: invalidSolanaAddresses,
  node,
};

/** Of what nodes show of blocks, `confirmed` is the newest. */
const commitment = 'confirmed';

function node(rpc: string): NodeView {
  const client = createSolanaRpc(rpc);
  const read = (id: string) =>
    client.getTransaction(id as Signature, { commitment, encoding: 'json', maxSupportedTransactionVersion: 0 }).send();
  return {
    balanceOf: async (text) => (await client.getBalance(address(text), { commitment }).send()).value,
    isIncluded: async (id) => (await read(id)) !== null,
    paid: async (id, text) => {
      const found = await read(id);
      if (!found?.meta || found.meta.err !== null) throw new Error(`${id} is in no block, or has failed`);
      const { preBalances: before, postBalances: after } = found.meta;
      const at = found.transaction.message.accountKeys.findIndex((key) => key === text);
      return at < 0 ? 0n : (after[at] as bigint) - (before[at] as bigint);
    },
  };
}

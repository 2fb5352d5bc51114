import { secp256k1 } from '@noble/curves/secp256k1.js';
import { formatUnits, parseUnits } from 'viem';
import { parseAddress } from '../../src/chains/tron/codec/address';
import { tronCodec } from '../tron';
import type { FamilyFixture, NodeView } from './fixture';
import { invalidTronAddresses } from './tron-addresses';

const decimals = 6;
/** A payment to a new account costs 1.1 TRX, and up to 1.4 are locked for it. */
const coinsEach = 100n;

const newAddress = (): string => tronCodec.address(secp256k1.keygen().publicKey).address;
const keyOf = (address: string): string => parseAddress(address)?.key ?? '';

export const tronFixture: FamilyFixture = {
  chain: 'tron',
  symbol: 'TRX',
  decimals,
  isInstalled: true,
  amount: (text) => formatUnits(parseUnits(text, decimals) * coinsEach, decimals),
  newAddress,
  spellings: (address) => [keyOf(address), `41${keyOf(address).slice(2).toUpperCase()}`],
  destinations: () => ({ 'in Base58Check': newAddress(), 'in hex': keyOf(newAddress()) }),
  invalidAddresses: invalidTronAddresses,
  node,
};

interface Transaction {
  ret?: { contractRet?: string }[];
  raw_data?: { contract: { type: string; parameter: { value: { to_address?: string; amount?: number } } }[] };
}

function node(rpc: string): NodeView {
  const ask = async <T>(path: string, body: object): Promise<T> => {
    const response = await fetch(`${rpc}/wallet/${path}`, { method: 'POST', body: JSON.stringify(body) });
    return (await response.json()) as T;
  };
  const isIncluded = async (id: string): Promise<boolean> =>
    (await ask<{ blockNumber?: number }>('gettransactioninfobyid', { value: id })).blockNumber !== undefined;
  return {
    balanceOf: async (address) =>
      BigInt((await ask<{ balance?: number }>('getaccount', { address: keyOf(address) })).balance ?? 0),
    isIncluded,
    paid: async (id, address) => {
      const { ret, raw_data: raw } = await ask<Transaction>('gettransactionbyid', { value: id });
      if (!(await isIncluded(id)) || ret?.[0]?.contractRet !== 'SUCCESS') throw new Error(`${id} is in no block, or has failed`);
      const { type, parameter } = raw?.contract[0] ?? {};
      const { to_address: to, amount = 0 } = parameter?.value ?? {};
      return type === 'TransferContract' && to === keyOf(address) ? BigInt(amount) : 0n;
    },
  };
}

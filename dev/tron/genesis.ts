import { encodeFunctionData, hexToBytes, type Hex } from 'viem';
import { contractArtifacts } from '../contracts';
import { addressOfKey, parseAddress, sha256 } from './address';
import { makeBlock } from './blocks';
import type { ChainOptions } from './chain';
import type { ChainData } from './history';
import { Layer, newAccount, putAccount, putContract } from './state';
import { runContract } from './vm';

/** The key of the faucet is known to everybody. */
export const faucetKey = sha256(Buffer.from('simulated faucet'));
export const faucetAddress = addressOfKey(faucetKey);

/** Symbol to address. USDT: Tether's own publication (https://tether.to/en/supported-protocols). */
export const defaultTokens: Record<string, string> = {
  USDT: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  USDC: 'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8',
};

const faucetSun = 10_000_000_000_000_000n;
const faucetTokens = 1_000_000_000_000_000n;

export const tokenCall = (functionName: 'mint' | 'transfer', args: [Hex, bigint]): Buffer =>
  Buffer.from(hexToBytes(encodeFunctionData({ abi: tokenAbi, functionName, args })));

const inputs = [
  { name: 'to', type: 'address' },
  { name: 'amount', type: 'uint256' },
] as const;
const tokenAbi = (['mint', 'transfer'] as const).map((name) => ({
  ...({ type: 'function', name, inputs, outputs: [], stateMutability: 'nonpayable' } as const),
}));

/** The address as contracts have it. */
export const evmAddress = (address: Uint8Array): Hex => `0x${Buffer.from(address.subarray(1)).toString('hex')}`;

/** A first block; the faucet has TRX and tokens, whose contracts are the test tokens of the EVM chains, byte for byte. */
export async function genesis({ blockMs }: ChainOptions, tokens: Record<string, string>): Promise<ChainData> {
  const timeMs = Math.floor(Date.now() / blockMs) * blockMs;
  const base = new Layer(undefined);
  putAccount(base, faucetAddress, { ...newAccount(timeMs), balance: faucetSun });
  const artifacts = await contractArtifacts();
  for (const [symbol, text] of Object.entries(tokens)) {
    const contract = parseAddress(text);
    const { deployedBytecode } = artifacts[symbol === 'USDC' ? 'TestUSDC' : 'TestUSDT'];
    putAccount(base, contract, newAccount(timeMs, 'Contract'));
    putContract(base, contract, { name: symbol, code: deployedBytecode.slice(2), energyFactor: 0 });
    await runContract(base, {
      ...{ caller: faucetAddress, contract, value: 0n, energyLimit: 1_000_000n, energyFactor: 0 },
      data: tokenCall('mint', [evmAddress(faucetAddress), faucetTokens]),
      block: { number: 0, timeMs },
    });
  }
  const block = makeBlock({ number: 0, timeMs, parent: '00'.repeat(32), witness: 0 }, []);
  return { base, blocks: [block], layers: [] };
}

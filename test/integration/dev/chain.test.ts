import { type Address, erc20Abi, parseEther } from 'viem';
import { localTokenAddresses } from '../../../src/chains/registry/local-tokens';
import { contractArtifacts } from '../../../dev/contracts';
import { mintToken, prepareChain, sendNative } from '../../../dev/chain';
import { startTestAnvil, type TestAnvil } from '../../stack/anvil';

jest.setTimeout(60_000);

describe('a local chain', () => {
  const someone: Address = '0x00000000000000000000000000000000000A11cE';
  let anvil: TestAnvil;
  beforeAll(async () => {
    anvil = await startTestAnvil({ chainId: 8453, l1DataFee: true });
  });
  afterAll(() => anvil?.stop());

  it('has the test tokens where the registry says they are', async () => {
    for (const [symbol, address] of Object.entries(localTokenAddresses)) {
      expect(await anvil.chain.readContract({ address, abi: erc20Abi, functionName: 'symbol' })).toBe(symbol);
      expect(await anvil.chain.readContract({ address, abi: erc20Abi, functionName: 'decimals' })).toBe(6);
    }
  });

  it('is not prepared twice', async () => {
    const before = await anvil.chain.getCode({ address: localTokenAddresses.USDC });
    await prepareChain(anvil.chain, { l1DataFee: true });
    expect(await anvil.chain.getCode({ address: localTokenAddresses.USDC })).toBe(before);
  });

  it('funds many addresses at once', async () => {
    await Promise.all([
      ...Array.from({ length: 5 }, () => sendNative(anvil.chain, someone, parseEther('1'))),
      ...Array.from({ length: 5 }, () => mintToken(anvil.chain, localTokenAddresses.USDT, someone, 1_000_000n)),
    ]);
    expect(await anvil.chain.getBalance({ address: someone })).toBe(parseEther('5'));
    const balance = { address: localTokenAddresses.USDT, abi: erc20Abi, functionName: 'balanceOf', args: [someone] } as const;
    expect(await anvil.chain.readContract(balance)).toBe(5_000_000n);
  });

  it('answers for the L1 data fee where the chain has one', async () => {
    const { TestGasPriceOracle } = await contractArtifacts();
    const oracle = { address: '0x420000000000000000000000000000000000000F', abi: TestGasPriceOracle.abi } as const;
    expect(await anvil.chain.readContract({ ...oracle, functionName: 'getL1Fee', args: ['0x00'] })).toBe(1_000_000_000n);
  });
});

import { type Address, encodeFunctionData, erc20Abi, multicall3Abi, parseEther } from 'viem';
import { exactProxyAbi, exactProxyAddress, permit2Address, uptoProxyAddress } from '../../../src/chains/evm/payments/contracts';
import { loadRegistry } from '../../../src/chains/registry';
import { contractArtifacts } from '../../../dev/contracts';
import { mintToken, prepareChain, sendNative } from '../../../dev/chain';
import { startTestAnvil, type TestAnvil } from '../../stack/anvil';

jest.setTimeout(60_000);

describe('a local chain', () => {
  const someone: Address = '0x00000000000000000000000000000000000A11cE';
  const { tokens } = loadRegistry('local', ['base']).get('base');
  const [usdc, usdt] = tokens.map(({ contract }) => contract) as [Address, Address];
  let anvil: TestAnvil;
  beforeAll(async () => {
    anvil = await startTestAnvil({ chainId: 8453, chargesForData: true });
  });
  afterAll(() => anvil?.stop());

  it('has the test tokens where production has the real ones', async () => {
    for (const { symbol, contract } of tokens) {
      const address = contract as Address;
      expect(await anvil.chain.readContract({ address, abi: erc20Abi, functionName: 'symbol' })).toBe(symbol);
      expect(await anvil.chain.readContract({ address, abi: erc20Abi, functionName: 'decimals' })).toBe(6);
    }
    const real = loadRegistry('production', ['base']).get('base').tokens;
    expect(tokens.map(({ contract }) => contract)).toEqual(real.map(({ contract }) => contract));
  });

  it('has a token with authorisations only where production has one', async () => {
    const bsc = await startTestAnvil({ chainId: 56 });
    try {
      const { TestUSDT } = await contractArtifacts();
      for (const { contract } of loadRegistry('production', ['bsc']).get('bsc').tokens)
        expect(await bsc.chain.getCode({ address: contract as Address })).toBe(TestUSDT.deployedBytecode);
    } finally {
      await bsc.stop();
    }
  });

  it('has the contracts of x402 at their addresses', async () => {
    for (const address of [exactProxyAddress, uptoProxyAddress]) {
      const permit2 = { address, abi: exactProxyAbi, functionName: 'PERMIT2' } as const;
      expect(await anvil.chain.readContract(permit2)).toBe(permit2Address);
    }
    const multicall = { address: '0xcA11bde05977b3631167028862bE2a173976CA11', abi: multicall3Abi } as const;
    const callData = encodeFunctionData({ abi: erc20Abi, functionName: 'symbol' });
    const calls = [usdc, permit2Address].map((target) => ({ target, allowFailure: true, callData }));
    const results = await anvil.chain.readContract({ ...multicall, functionName: 'aggregate3', args: [calls] });
    expect(results.map(({ success }) => success)).toEqual([true, false]);
  });

  it('keeps balances when it is prepared again, and gets back what it has lost', async () => {
    await mintToken(anvil.chain, usdc, someone, 7n);
    await anvil.chain.setCode({ address: permit2Address, bytecode: '0x' });
    await prepareChain(anvil.chain, { chargesForData: true });
    const balance = { address: usdc, abi: erc20Abi, functionName: 'balanceOf', args: [someone] } as const;
    expect(await anvil.chain.readContract(balance)).toBe(7n);
    expect(await anvil.chain.getCode({ address: permit2Address })).toBe((await contractArtifacts()).TestPermit2.deployedBytecode);
  });

  it('funds many addresses at once', async () => {
    await Promise.all([
      ...Array.from({ length: 5 }, () => sendNative(anvil.chain, someone, parseEther('1'))),
      ...Array.from({ length: 5 }, () => mintToken(anvil.chain, usdt, someone, 1_000_000n)),
    ]);
    expect(await anvil.chain.getBalance({ address: someone })).toBe(parseEther('5'));
    const balance = { address: usdt, abi: erc20Abi, functionName: 'balanceOf', args: [someone] } as const;
    expect(await anvil.chain.readContract(balance)).toBe(5_000_000n);
  });

  it('answers for the L1 data fee where the chain has one', async () => {
    const { TestGasPriceOracle } = await contractArtifacts();
    const oracle = { address: '0x420000000000000000000000000000000000000F', abi: TestGasPriceOracle.abi } as const;
    expect(await anvil.chain.readContract({ ...oracle, functionName: 'getL1Fee', args: ['0x00'] })).toBe(1_000_000_000n);
  });
});

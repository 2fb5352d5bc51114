import { type Address, createTestClient, encodeFunctionData, type Hex, http, parseGwei, publicActions } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { exactProxyAddress, multicall3Address, permit2Address, uptoProxyAddress } from '../src/chains/evm/payments/contracts';
import { getChains } from '../src/chains/registry/data';
import { contractArtifacts, type TestContract } from './contracts';
import { until } from './processes';
import { walletFactory } from './wallet-factory';

const gasPriceOracle: Address = '0x420000000000000000000000000000000000000F';

/** What official x402 clients expect at the same address on every chain. */
const canonical: [Address, TestContract][] = [
  [permit2Address, 'TestPermit2'],
  [exactProxyAddress, 'TestExactProxy'],
  [uptoProxyAddress, 'TestUptoProxy'],
  [multicall3Address, 'TestMulticall3'],
];

export function devChain(rpc: string) {
  return createTestClient({ mode: 'anvil', transport: http(rpc, { timeout: 5_000, retryCount: 2 }) }).extend(publicActions);
}
export type DevChain = ReturnType<typeof devChain>;

/** Sets the code of the test contracts where it is missing or another one. Idempotent, also after lost blocks. */
export async function prepareChain(chain: DevChain, { chargesForData = false }: { chargesForData?: boolean }): Promise<void> {
  const artifacts = await contractArtifacts();
  const contracts: [Address, TestContract][] = [
    ...canonical,
    [walletFactory, 'TestWalletFactory'],
    ...getTokens(await chain.getChainId()),
  ];
  if (chargesForData) contracts.push([gasPriceOracle, 'TestGasPriceOracle']);
  await Promise.all(
    contracts.map(async ([address, contract]) => {
      const { deployedBytecode } = artifacts[contract];
      if ((await chain.getCode({ address })) !== deployedBytecode) await chain.setCode({ address, bytecode: deployedBytecode });
    }),
  );
}

/** The test tokens at the addresses that the registry has for the chain. */
function getTokens(chainId: number): [Address, TestContract][] {
  const tokens = getChains('local').find(({ caip2 }) => caip2 === `eip155:${chainId}`)?.tokens ?? [];
  return tokens.map(({ contract, takesAuthorisations }) => [contract as Address, takesAuthorisations ? 'TestUSDC' : 'TestUSDT']);
}

/** Sends any amount of the native coin from a new account, so that concurrent calls do not share nonces. */
export async function sendNative(chain: DevChain, to: Address, amountWei: bigint): Promise<Hex> {
  return sendAndWait(chain, privateKeyToAccount(generatePrivateKey()), 0, { to, value: amountWei, gas: 100_000n });
}

export async function mintToken(chain: DevChain, token: Address, to: Address, amountAtomic: bigint): Promise<Hex> {
  const { TestUSDC } = await contractArtifacts();
  const data = encodeFunctionData({ abi: TestUSDC.abi, functionName: 'mint', args: [to, amountAtomic] });
  return sendAndWait(chain, privateKeyToAccount(generatePrivateKey()), 0, { to: token, data, gas: 200_000n });
}

interface Send {
  to?: Address;
  data?: Hex;
  value?: bigint;
  gas: bigint;
}

/** Funds the sender, signs and sends a transaction, and waits (at most 30 s) until it is included in a block. */
async function sendAndWait(
  chain: DevChain,
  sender: ReturnType<typeof privateKeyToAccount>,
  nonce: number,
  send: Send,
): Promise<Hex> {
  const [block, chainId] = await Promise.all([chain.getBlock(), chain.getChainId()]);
  const maxPriorityFeePerGas = parseGwei('1');
  const maxFeePerGas = 3n * (block.baseFeePerGas ?? 0n) + maxPriorityFeePerGas;
  await chain.setBalance({ address: sender.address, value: (send.value ?? 0n) + send.gas * maxFeePerGas });
  const serializedTransaction = await sender.signTransaction({
    ...send,
    type: 'eip1559',
    chainId,
    nonce,
    maxFeePerGas,
    maxPriorityFeePerGas,
  });
  const hash = await chain.sendRawTransaction({ serializedTransaction });
  let status: 'success' | 'reverted' | undefined;
  const included = await until(
    async () => (status = (await chain.getTransactionReceipt({ hash })).status) !== undefined,
    30_000,
    150,
  );
  if (!included) throw new Error(`transaction ${hash} was not included within 30 s`);
  if (status !== 'success') throw new Error(`transaction ${hash} was reverted`);
  return hash;
}

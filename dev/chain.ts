import {
  type Address,
  createTestClient,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  http,
  keccak256,
  parseGwei,
  publicActions,
  toHex,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { localTokenAddresses } from '../src/chains/registry/local-tokens';
import { contractArtifacts, type TestContract } from './contracts';
import { until } from './processes';

/** Deploys the tokens and is used for nothing else, so that its nonces, and thus the token addresses, are always the same. */
const deployer = privateKeyToAccount(keccak256(toHex('custody-gateway local token deployer')));
const gasPriceOracle: Address = '0x420000000000000000000000000000000000000F';

const deployments: { contract: TestContract; address: Address }[] = [
  { contract: 'TestUSDC', address: localTokenAddresses.USDC },
  { contract: 'TestUSDT', address: localTokenAddresses.USDT },
];

export function devChain(rpc: string) {
  return createTestClient({ mode: 'anvil', transport: http(rpc, { timeout: 5_000, retryCount: 2 }) }).extend(publicActions);
}
export type DevChain = ReturnType<typeof devChain>;

/** Deploys the test contracts that are missing on a local chain. Idempotent, also after lost blocks. */
export async function prepareChain(chain: DevChain, { l1DataFee }: { l1DataFee: boolean }): Promise<void> {
  const artifacts = await contractArtifacts();
  if (l1DataFee) await chain.setCode({ address: gasPriceOracle, bytecode: artifacts.TestGasPriceOracle.deployedBytecode });
  for (const [nonce, { contract, address }] of deployments.entries()) {
    if (getContractAddress({ from: deployer.address, nonce: BigInt(nonce) }) !== address)
      throw new Error(`${contract} would not be at ${address}`);
    if (await chain.getCode({ address })) continue;
    const { abi, bytecode } = artifacts[contract];
    await chain.setNonce({ address: deployer.address, nonce });
    await sendAndWait(chain, deployer, nonce, { data: encodeDeployData({ abi, bytecode }), gas: 3_000_000n });
    if (!(await chain.getCode({ address }))) throw new Error(`${contract} was not created at ${address}`);
  }
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

import {
  type Address,
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  keccak256,
  maxUint256,
  parseEther,
  toHex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { contractArtifacts } from '../../../dev/contracts';
import { mintToken, sendNative } from '../../../dev/chain';
import { permit2Address } from '../../../src/chains/evm/payments/contracts';
import { loadRegistry } from '../../../src/chains/registry';
import { startTestAnvil, type TestAnvil } from '../../stack/anvil';

/** A chain on which somebody pays: tokens, Permit2, and payers of each kind. */
export interface Payers {
  anvil: TestAnvil;
  usdc: Address;
  usdt: Address;
  payer: ReturnType<typeof privateKeyToAccount>;
  /** Contract wallet (ERC-1271) that `payer` owns. */
  wallet: Address;
  /** Sends a transaction and waits; the status of its receipt. */
  send(to: Address, data: Hex, from?: ReturnType<typeof privateKeyToAccount>): Promise<'success' | 'reverted'>;
  setMode(mode: WalletMode): Promise<void>;
}

/** As in TestWallet.sol. */
const walletModes = ['CheckOwner', 'Refuse', 'OtherAnswer', 'Revert', 'BurnGas', 'ShortAnswer', 'InvalidOpcode'] as const;
export type WalletMode = (typeof walletModes)[number];

/** Whether a wallet in each mode has the signature of its owner taken for its own. */
export const takenByMode: [WalletMode, boolean][] = [
  ['Refuse', false],
  ['OtherAnswer', false],
  ['Revert', false],
  ['BurnGas', false],
  ['ShortAnswer', false],
  ['InvalidOpcode', false],
  ['CheckOwner', true],
];

export const keyOf = (name: string): Hex => keccak256(toHex(`test: ${name}`));
export const account = (name: string) => privateKeyToAccount(keyOf(name));

/** Everybody has 1,000,000 atomic units of both tokens, and Permit2 may take all of it. */
export async function startPayers(): Promise<Payers> {
  const anvil = await startTestAnvil({ chainId: 8453 });
  const tokens = loadRegistry('local', ['base']).get('base').tokens;
  const [usdc, usdt] = tokens.map(({ contract }) => contract) as [Address, Address];
  const payer = account('payer');
  await sendNative(anvil.chain, payer.address, parseEther('1'));
  const client = createWalletClient({ account: payer, transport: http(anvil.rpc) });
  const wait = async (hash: Hex) => anvil.chain.waitForTransactionReceipt({ hash, pollingInterval: 100 });
  const { TestWallet } = await contractArtifacts();
  const created = await client.deployContract({ ...TestWallet, args: [payer.address], chain: null });
  const wallet = (await wait(created)).contractAddress as Address;
  const write = async (request: {
    address: Address;
    abi: typeof TestWallet.abi;
    functionName: string;
    args: readonly unknown[];
  }) => void (await wait(await client.writeContract({ ...request, chain: null })));
  for (const address of [usdc, usdt]) {
    for (const owner of [payer.address, wallet]) await mintToken(anvil.chain, address, owner, 1_000_000n);
    const approve = { abi: erc20Abi, functionName: 'approve', args: [permit2Address, maxUint256] } as const;
    await wait(await client.writeContract({ ...approve, address, chain: null }));
    await write({ address: wallet, abi: TestWallet.abi, functionName: 'execute', args: [address, encodeFunctionData(approve)] });
  }
  let current: WalletMode = 'CheckOwner';
  return {
    anvil,
    usdc,
    usdt,
    payer,
    wallet,
    send: async (to, data, from = payer) => {
      const sender = createWalletClient({ account: from, transport: http(anvil.rpc) });
      return (await wait(await sender.sendTransaction({ to, data, gas: 500_000n, chain: null }))).status;
    },
    setMode: async (mode) => {
      if (mode === current) return;
      await write({ address: wallet, abi: TestWallet.abi, functionName: 'setMode', args: [walletModes.indexOf(mode)] });
      current = mode;
    },
  };
}

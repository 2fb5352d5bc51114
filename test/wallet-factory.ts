import {
  type Address,
  concat,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  keccak256,
  parseAbiParameters,
  toHex,
} from 'viem';
import type { DevChain } from '../dev/chain';
import { contractArtifacts } from '../dev/contracts';
import { walletFactory } from '../dev/wallet-factory';

export { walletFactory };

/** Places the factory of the test contracts on a local chain; at another address it is another factory. */
export async function placeFactory(chain: Pick<DevChain, 'setCode'>, address = walletFactory): Promise<void> {
  const { TestWalletFactory } = await contractArtifacts();
  await chain.setCode({ address, bytecode: TestWalletFactory.deployedBytecode });
}

export interface UncreatedWallet {
  address: Address;
  /** The call of the factory that creates it. */
  data: Hex;
}

/** What the factory does about a wallet that exists: see TestWalletFactory.sol. */
export type Creation = 'create' | 'createOnce' | 'createBlindly';

/** A wallet of a key's owner, which exists when somebody has called the factory; another one for each `name`. */
export async function walletOf(owner: Address, name: string, functionName: Creation = 'create'): Promise<UncreatedWallet> {
  const { TestWalletFactory, TestCreatedWallet } = await contractArtifacts();
  const salt = keccak256(toHex(name));
  const bytecode = encodeDeployData({ ...TestCreatedWallet, args: [owner] });
  return {
    address: getContractAddress({ opcode: 'CREATE2', from: walletFactory, salt, bytecode }),
    data: encodeFunctionData({ abi: TestWalletFactory.abi, functionName, args: [owner, salt] }),
  };
}

/** A signature as wallets give it that need not exist yet (ERC-6492). */
export const wrapSignature = (factory: Address, data: Hex, signature: Hex): Hex =>
  concat([
    encodeAbiParameters(parseAbiParameters('address, bytes, bytes'), [factory, data, signature]),
    `0x${'6492'.repeat(16)}`,
  ]);

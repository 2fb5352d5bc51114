import type { Address } from 'viem';

/** Where the local EVM chains have a factory of payers' wallets (ERC-6492), in canonical form: dev/contracts/TestWalletFactory.sol. */
export const walletFactory: Address = '0x6A7d45bC09E82f3a1D5c90B7e4F2683d1Ca0594e'.toLowerCase() as Address;

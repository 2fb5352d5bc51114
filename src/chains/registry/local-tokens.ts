/**
 * Addresses of the test tokens on every local chain. The contracts are created by one fixed account (see dev/contracts.ts) as its
 * transactions 0 and 1, so the addresses are known before the chain exists. EIP-55.
 */
export const localTokenAddresses = {
  USDC: '0x6Ae8cF0C1BbA5F214D82dc34e8566fA4f427C375',
  USDT: '0x1a3b91FFF01aBF2BA677E4f0D98fdB394500f927',
} as const;

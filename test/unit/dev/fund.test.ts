import { fund } from '../../../dev/fund';

const chains = {
  ethereum: { family: 'evm', rpc: 'http://127.0.0.1:1', chain_id: 1, faucet: true, tokens: {} },
  base: { family: 'evm', rpc: 'http://127.0.0.1:1', chain_id: 8453, faucet: false, tokens: {} },
};
const address = '0x6Ae8cF0C1BbA5F214D82dc34e8566fA4f427C375';

it.each([
  ['bitcoin', 'ETH', address, '1', 'unknown chain bitcoin: the stack has ethereum, base'],
  ['base', 'ETH', address, '1', 'base is not a local chain'],
  ['ethereum', 'DOGE', address, '1', 'unknown symbol DOGE: ethereum has ETH, USDC, USDT'],
  ['ethereum', 'ETH', '0x1234', '1', 'is not an address'],
  ['ethereum', 'ETH', address.replace('A5F', 'a5F'), '1', 'is not an address'],
  ['ethereum', 'USDC', address, '1.1234567', 'more than 6 decimals'],
  ['ethereum', 'USDC', address, '0', 'zero'],
  ['ethereum', 'USDC', address, '-1', 'is not an amount'],
  ['ethereum', 'USDC', address, '1e3', 'is not an amount'],
])('the faucet refuses %s %s %s %s', async (chain, symbol, to, amount, message) => {
  await expect(fund({ chains }, chain, symbol, to, amount)).rejects.toThrow(message);
});

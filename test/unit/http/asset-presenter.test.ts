import { presentAsset } from '../../../src/assets/presenter';
import { getFamily } from '../../../src/chains/families';
import { loadRegistry } from '../../../src/chains/registry';

const asset = {
  assetId: 'a',
  accountId: 'b',
  walletId: 'c',
  clientId: 'd',
  chain: 'polygon',
  accountNetwork: 'mainnet',
  family: 'evm',
  symbol: 'USDC',
  decimals: 6,
  available: 1_500_000n,
  locked: 0n,
  isActive: true,
  createdAt: new Date(0),
};
const present = (contractAddress: string | null) =>
  presentAsset({ ...asset, contractAddress }, loadRegistry('production', ['ethereum']), getFamily);

test('an asset on a chain that is no longer enabled is shown with the data of its row and the type that its family gives', () => {
  expect(present('0xabc')).toMatchObject({ asset_type: 'ERC20', name: 'USDC', network: 'mainnet', balance: '1.5' });
  expect(present(null)).toMatchObject({ asset_type: 'NATIVE' });
});

import type { GetFamily } from '../chains/family';
import { type ChainRegistry, tokenBySymbol } from '../chains/registry';
import { formatAmount } from '../platform/money';
import type { AssetRow } from './repository';
import type { AssetView } from './schema';

/** Names come from the registry; for a chain that is no longer enabled the asset is shown with the data of its row. */
export function presentAsset(asset: AssetRow, registry: ChainRegistry, getFamily: GetFamily): AssetView {
  const chain = registry.find(asset.chain);
  const token = chain && tokenBySymbol(chain, asset.symbol);
  return {
    asset_id: asset.assetId,
    account_id: asset.accountId,
    wallet_id: asset.walletId,
    client_id: asset.clientId,
    chain: asset.chain,
    network: chain?.network ?? asset.accountNetwork,
    symbol: asset.symbol,
    name: token?.name ?? asset.symbol,
    decimals: asset.decimals,
    asset_type: token?.assetType ?? (asset.contractAddress === null ? 'NATIVE' : getFamily(asset.family).tokenType),
    balance: formatAmount(asset.available, asset.decimals),
    locked_balance: formatAmount(asset.locked, asset.decimals),
    is_active: asset.isActive,
    created_at: asset.createdAt.toISOString(),
    contract_address: asset.contractAddress,
  };
}

import Joi from 'joi';
import { assetTypes } from '../chains/types';
import {
  amountOut,
  chainName,
  id,
  oneOf,
  pageFields,
  type PageQuery,
  pageSchema,
  reference,
  timestamp,
  view,
} from '../http/schemas';

const symbols = ['ETH', 'TRX', 'USDT', 'USDC', 'BNB', 'MATIC', 'BTC', 'SOL'];

export interface AddAsset {
  account_id: string;
  symbol: string;
  chain?: string;
}

export const addAsset = Joi.object<AddAsset, true>({
  account_id: reference().required(),
  symbol: oneOf('AssetSymbol', symbols).required(),
  chain: chainName().description(
    'Required for accounts whose address exists on several chains (ethereum, bsc, …), omitted for all others',
  ),
});

export interface ListAssets extends PageQuery {
  account_id?: string;
}

export const listAssets = Joi.object<ListAssets, true>({
  ...pageFields,
  account_id: Joi.string().description('Assets of this account only'),
});

export interface AssetView {
  asset_id: string;
  account_id: string;
  wallet_id: string;
  client_id: string;
  chain: string;
  network: string;
  symbol: string;
  name: string;
  decimals: number;
  asset_type: string;
  balance: string;
  locked_balance: string;
  is_active: boolean;
  created_at: string;
  contract_address: string | null;
}

export const assetView = view<AssetView>('Asset', {
  asset_id: id(),
  account_id: id(),
  wallet_id: id(),
  client_id: id(),
  chain: Joi.string(),
  network: Joi.string(),
  symbol: Joi.string(),
  name: Joi.string(),
  decimals: Joi.number().integer(),
  asset_type: oneOf('AssetType', assetTypes),
  balance: amountOut().description('Available balance, display units'),
  locked_balance: amountOut().description('Locked by transfers in progress, display units'),
  is_active: Joi.boolean(),
  created_at: timestamp(),
  contract_address: Joi.string().allow(null).description('null for native coins'),
});

export const assetPage = pageSchema(assetView, 'AssetPage');

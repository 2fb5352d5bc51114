import Joi from 'joi';
import { assetTypes } from '../chains/types';
import { amountOut, coins, type Coins, oneOf, view } from '../http/schemas';

export interface TokenView {
  symbol: string;
  name: string;
  decimals: number;
  asset_type: string;
  contract_address: string | null;
  network_fee: string | null;
}

export interface ChainView {
  chain: string;
  network: string;
  caip2: string;
  native: TokenView;
  tokens: TokenView[];
  required_confirmations: number;
  block_time_ms: number;
  max_network_fee: Coins;
  minimum_amount: Coins | null;
  minimum_balance: Coins | null;
  on_chain_memo: boolean;
  allow_program_address: boolean;
  explorer_tx_url: string | null;
}

const tokenView = view<TokenView>('ChainToken', {
  symbol: Joi.string(),
  name: Joi.string(),
  decimals: Joi.number().integer().min(0),
  asset_type: oneOf('AssetType', assetTypes),
  contract_address: Joi.string().allow(null).description('null: the native coin'),
  network_fee: amountOut()
    .allow(null)
    .description(
      'Highest network fee that a usual transfer of it would lock now, of the native coin in display units; POST /transfer/estimate has that of one transfer. null: the fees of the chain are not known at the moment',
    ),
});

const chainView = view<ChainView>('Chain', {
  chain: Joi.string().description('Its name in requests'),
  network: Joi.string(),
  caip2: Joi.string().description('CAIP-2 identifier'),
  native: tokenView.description('The coin that network fees are paid in'),
  tokens: Joi.array().items(tokenView).description('What can be added to an account beside the native coin'),
  required_confirmations: Joi.number()
    .integer()
    .min(1)
    .description('Depth at which a transfer is CONFIRMED and a deposit is credited; 1 for the newest block'),
  block_time_ms: Joi.number().min(0).description('Usual time between two blocks'),
  max_network_fee: coins().description('No transaction costs more than this'),
  minimum_amount: coins()
    .allow(null)
    .description(
      'Smallest transfer of the native coin that every address can be paid; less is refused to some. null: there is no such limit. The largest amounts are limits of a wallet, which an operator sets',
    ),
  minimum_balance: coins()
    .allow(null)
    .description('What an account that has paid a fee keeps at least, because the chain demands it; null: nothing'),
  on_chain_memo: Joi.boolean().description('Transfers may have on_chain_memo'),
  allow_program_address: Joi.boolean().description('Transfers may have allow_program_address'),
  explorer_tx_url: Joi.string().allow(null).description('Page of a transaction at an explorer, with {hash} for its hash'),
});

export interface ChainsView {
  data: ChainView[];
}

export const chainsView = view<ChainsView>('Chains', { data: Joi.array().items(chainView) });

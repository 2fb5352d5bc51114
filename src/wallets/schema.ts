import Joi from 'joi';
import { id, type PageQuery, pageFields, pageSchema, text, timestamp, view, visibleText } from '../http/schemas';

export interface CreateWallet {
  wallet_name: string;
  description?: string | null;
}

export const createWallet = Joi.object<CreateWallet, true>({
  wallet_name: visibleText(100).required(),
  description: text(500).allow(null, ''),
});

export const listWallets = Joi.object<PageQuery, true>(pageFields);

export interface WalletView {
  wallet_id: string;
  client_id: string;
  wallet_name: string;
  description: string | null;
  status: string;
  key_status: string;
  created_at: string;
  updated_at: string;
}

export const walletView = view<WalletView>('Wallet', {
  wallet_id: id(),
  client_id: id(),
  wallet_name: Joi.string(),
  description: Joi.string().allow(null),
  status: Joi.string().valid('PROGRESSING', 'ACTIVE', 'SUSPENDED'),
  key_status: Joi.string().valid('GENERATING', 'ACTIVE'),
  created_at: timestamp(),
  updated_at: timestamp(),
});

export const walletPage = pageSchema(walletView, 'WalletPage');

import type { WalletEntity } from './entity';
import type { WalletView } from './schema';

export const presentWallet = (wallet: WalletEntity): WalletView => ({
  wallet_id: wallet.walletId,
  client_id: wallet.clientId,
  wallet_name: wallet.walletName,
  description: wallet.description,
  status: wallet.status,
  key_status: wallet.keyStatus,
  created_at: wallet.createdAt.toISOString(),
  updated_at: wallet.updatedAt.toISOString(),
});

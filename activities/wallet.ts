import type { DataSource } from 'typeorm';
import type { WalletActivities } from '../src/messages/key-generation';
import { activateWallet } from '../src/wallets/activate-wallet';

export const createWalletActivities = (database: DataSource): WalletActivities => ({
  activateWallet: (input) => activateWallet(database, input),
});

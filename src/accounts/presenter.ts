import type { AccountEntity } from './entity';
import type { AccountView, ListedAccountView } from './schema';
import type { ListedAccount } from './service';

export const presentAccount = (account: AccountEntity): AccountView => ({
  account_id: account.accountId,
  wallet_id: account.walletId,
  client_id: account.clientId,
  address: account.address,
  chain: account.chain,
  network: account.network,
  address_type: account.addressType,
  status: account.status,
  label: account.label,
  created_at: account.createdAt.toISOString(),
});

export const presentListedAccount = ({ account, isOwnAddress }: ListedAccount): ListedAccountView => ({
  ...presentAccount(account),
  ...(!isOwnAddress && { address: null }),
});

import type { NodeKeys } from '../mpc/identity';
import { presentStatements } from '../wallets/presenter';
import type { AccountEntity } from './entity';
import type { AccountAttestationsView, AccountView, ListedAccountView } from './schema';
import type { AccountStatements, ListedAccount } from './service';

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
  external_id: account.externalId,
  created_at: account.createdAt.toISOString(),
});

export const presentListedAccount = ({ account, isOwnAddress }: ListedAccount): ListedAccountView => ({
  ...presentAccount(account),
  ...(!isOwnAddress && { address: null }),
});

export const presentAccountAttestations = (
  { account, attestations }: AccountStatements,
  nodeKeys: NodeKeys,
): AccountAttestationsView => ({
  account_id: account.accountId,
  wallet_id: account.walletId,
  key_protocol: account.keyProtocol,
  derivation_path: account.derivationPath,
  attestations: presentStatements(attestations, nodeKeys),
});

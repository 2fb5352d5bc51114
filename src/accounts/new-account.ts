import type { Family } from '../chains/family';
import type { ChainDefinition } from '../chains/types';
import type { AttestedKey } from '../wallets/attested-keys';
import { deriveAddress } from './derivation';

/** The row of a wallet's new account, but for its id and label: its address is the one that the attested key gives at this index. */
export function newAccount({
  walletId,
  attested,
  chain,
  family,
  addressIndex,
}: {
  walletId: string;
  attested: AttestedKey;
  chain: ChainDefinition;
  family: Family;
  addressIndex: number;
}) {
  const { address, key, path, keyId } = deriveAddress(attested, family, addressIndex);
  return {
    walletId,
    clientId: attested.clientId,
    family: chain.family,
    chain: chain.name,
    network: chain.network,
    address,
    addressKey: key,
    keyId,
    keyProtocol: family.keyProtocol,
    derivationPath: path,
    addressIndex,
    addressType: 'INBOUND' as const,
    status: 'ACTIVE' as const,
  };
}

import { HDKey } from '@scure/bip32';
import type { FamilyAdapter, ParsedAddress } from '../chains/adapter';
import type { WalletEntity } from '../wallets/entity';

export interface DerivedAddress extends ParsedAddress {
  path: string;
}

/** Address of the index-th account of a wallet: BIP-32 from the group's public key alone, hence non-hardened. */
export function deriveAddress(
  { publicKey, chainCode, walletId }: WalletEntity,
  adapter: FamilyAdapter,
  index: number,
): DerivedAddress {
  if (!publicKey || !chainCode) throw new Error(`wallet ${walletId} is active without a key`);
  const path = adapter.accountPath(index);
  const child = new HDKey({ publicKey: Uint8Array.from(publicKey), chainCode: Uint8Array.from(chainCode) }).derive(path);
  if (!child.publicKey) throw new Error(`no public key at ${path} of wallet ${walletId}`);
  return { path, ...adapter.address(child.publicKey) };
}

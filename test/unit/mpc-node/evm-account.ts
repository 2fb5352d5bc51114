import { HDKey } from '@scure/bip32';
import { getFamily } from '../../../src/chains/families';
import { deriveKey } from '../../../src/mpc/secp256k1';

const family = getFamily('evm');

/** A key, the same in every run for the same byte, and one of its accounts. */
export function evmAccount(byte: number, index: number) {
  const { publicKey, chainCode } = HDKey.fromMasterSeed(new Uint8Array(32).fill(byte));
  const key = { publicKey: publicKey as Uint8Array, chainCode: chainCode as Uint8Array };
  const path = family.accountPath(index);
  return { key, path, from: family.address(deriveKey(key, path)).address };
}

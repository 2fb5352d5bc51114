import { protocols } from './protocols';
import type { SealedShare } from './share-cipher';

/** A row of key_shares. */
export interface ShareRow {
  key_id: string;
  client_id: string | null;
  wallet_id: string | null;
  account_id: string | null;
  protocol: string;
  public_key: Buffer;
  chain_code: Buffer;
  ciphertext: Buffer;
  iv: Buffer;
  tag: Buffer;
  kek_fingerprint: string;
}

export const shareColumns =
  'key_id, client_id, wallet_id, account_id, protocol, public_key, chain_code, ciphertext, iv, tag, kek_fingerprint';

export const toSealed = ({ ciphertext, iv, tag, kek_fingerprint: kekFingerprint }: ShareRow): SealedShare => ({
  ciphertext,
  iv,
  tag,
  kekFingerprint,
});

/** What the ciphertext of a row is bound to. @throws Error for a protocol that this version does not know. */
export function toBinding(row: ShareRow) {
  const protocol = protocols.find((name) => name === row.protocol);
  if (!protocol) throw new Error(`key ${row.key_id} is of protocol ${row.protocol}, which this version does not know`);
  const { key_id: keyId, public_key: publicKey, chain_code: chainCode, client_id: clientId, wallet_id: walletId } = row;
  const account = row.account_id === null ? {} : { accountId: row.account_id };
  const owner = clientId !== null && walletId !== null ? { clientId, walletId, ...account } : null;
  return { keyId, protocol, publicKey, chainCode, owner };
}

import type { ApplyBlacklistRequest } from './blacklist';
import type { AccountKey, PooledKey, WalletKey } from './key-generation';
import type { SignedRefusal } from './signing';
import type { BeginSigning, BeginSigningResult } from './transfer';

export interface NodeRefusals {
  txId: string;
  refusals: SignedRefusal[];
}

/** What the authoriser serves on its own task queue. Nothing else begins to sign or writes orders. */
export interface AuthoriserActivities {
  /**
   * From here on signing cannot be undone: one database transaction decides, reserves, stores bytes and claims; then the order is
   * signed. `cancellation` moves nothing and uses up what the earlier attempts would spend.
   */
  beginSigning(input: BeginSigning): Promise<BeginSigningResult>;
  /**
   * Two nodes refuse the first attempt by their own limits: the transfer is abandoned, and may be cancelled. Not accepted: it has ended,
   * or these are not two nodes' signed refusals of its only, unsigned attempt.
   */
  recordNodeRefusals(input: NodeRefusals): Promise<{ accepted: boolean }>;
  /** To generate a key for a wallet that has none, and to test it. */
  orderKeyGeneration(input: WalletKey): Promise<{ order: string }>;
  /** To tie a key to the wallet and its client; of a wallet that has a key only that one. */
  orderKeyBinding(input: WalletKey): Promise<{ order: string }>;
  /**
   * To generate a key before a wallet wants it, and to test it. null: there are enough of them.
   */
  orderPooledKey(input: PooledKey): Promise<{ order: string } | null>;
  /** Every node has stored its share of the key, and signed with it: a wallet may take it. */
  offerPooledKey(input: PooledKey): Promise<void>;
  /** Takes a key of the pool for a wallet that has none, always the same one; null: there is none, or the pool is switched off. */
  takePooledKey(input: { walletId: string }): Promise<PooledKey | null>;
  /** To generate the key of an account that a client waits for, and to test it. */
  orderAccountKey(input: AccountKey): Promise<{ order: string }>;
  /** To tie a key to the account, its wallet and client. From the first order on no other key is ordered for this account. */
  orderAccountKeyBinding(input: AccountKey): Promise<{ order: string }>;
  /** What is newer than a version of a client's blacklist, one page at most; null when nothing is. */
  orderBlacklistPage(input: { clientId: string; after: number }): Promise<ApplyBlacklistRequest | null>;
}

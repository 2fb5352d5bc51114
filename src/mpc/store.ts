import { timingSafeEqual } from 'node:crypto';
import type { DataSource, EntityManager } from 'typeorm';
import type { KeyProtocol } from '../chains/types';
import { hasChildren } from '../chains/key-protocols';
import { createDatabase } from '../platform/database';
import { GatewayError } from '../platform/errors';
import { BlacklistCopy } from './blacklist-copy';
import type { BoundShare } from './key-attestation';
import type { NodeIndex } from '../messages/nodes';
import { type KeyOwner, type SealedShare, ShareCipher } from './share-cipher';
import { shareColumns, type ShareRow, toBinding, toSealed } from './share-rows';
import { claimDatabase, verifyOwner } from './store-owner';

/** A key with this node's decrypted share. The receiver must call `wipe` after use. */
export interface UnlockedKey {
  keyId: string;
  /** Owner of the key; null when the order of its generation did not name one. */
  clientId: string | null;
  /** null before the key is bound. */
  walletId: string | null;
  protocol: KeyProtocol;
  /** Group public key: 33 bytes, compressed; of Ed25519 32 bytes. */
  publicKey: Buffer;
  /** 32 bytes; none where keys have no children. */
  chainCode: Buffer;
  share: Buffer;
}

export interface ShareStoreOptions {
  url: string;
  node: NodeIndex;
  /** Key-encryption keys, 32 bytes each: the first seals, all of them open. Wiped. */
  keks: Buffer[];
  /** migrations/mpc-node/index.ts. */
  migrations: (new () => object)[];
}

const poolSize = 10;
/** Of one key at one node; two are needed. */
const maxTestSignatures = 8;
const selectKey = `select ${shareColumns} from key_shares where key_id = $1`;

/**
 * A node's own key shares in its own Postgres database, encrypted under its key-encryption keys. Decrypted shares are not cached:
 * reading and decrypting one (105 KB) takes about 1 ms, compared with 15 ms for the protocol, and without a cache no share can leak
 * from memory between signatures.
 */
export class ShareStore {
  readonly blacklist: BlacklistCopy;

  private constructor(
    /** The node's own database; journal and bans are in it too. */
    readonly database: DataSource,
    private readonly cipher: ShareCipher,
  ) {
    this.blacklist = new BlacklistCopy(database);
  }

  /**
   * Connects, migrates and verifies that the database belongs to this node and one of its key-encryption keys; a new database is
   * assigned to the node and the first key.
   * @throws ConfigError when it belongs to another node, or a share to another key; any other error means that the database is not reachable (yet).
   */
  static async open({ url, node, keks, migrations }: ShareStoreOptions): Promise<ShareStore> {
    const copies = keks.map((kek) => Buffer.from(kek));
    const cipher = new ShareCipher(copies, node);
    await migrate(url, node, migrations);
    const database = await connect(url, node);
    try {
      await claimDatabase(database, node, cipher);
      await verifyOwner(database, node, cipher);
    } catch (error) {
      await database.destroy();
      throw error;
    }
    for (const kek of keks) kek.fill(0);
    return new ShareStore(database, cipher);
  }

  /**
   * Stores a share durably. Idempotent for the same share.
   * @throws Error when another share is stored under this key id; it is never overwritten.
   */
  async put(key: Omit<UnlockedKey, 'walletId'>): Promise<void> {
    const { ciphertext, iv, tag, kekFingerprint } = this.cipher.seal(key.share, { ...key, owner: null });
    const inserted = await this.database.query<unknown[]>(
      `insert into key_shares (key_id, protocol, public_key, chain_code, ciphertext, iv, tag, kek_fingerprint, client_id)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (key_id) do nothing returning key_id`,
      [key.keyId, key.protocol, key.publicKey, key.chainCode, ciphertext, iv, tag, kekFingerprint, key.clientId],
    );
    if (inserted.length > 0) return;
    const present = await this.unlock(key.keyId);
    try {
      if (!present || !sameKey(present, key))
        throw new Error(`key ${key.keyId} is already stored with another share, which is not overwritten`);
    } finally {
      if (present) wipe(present);
    }
  }

  /** Reads and decrypts a share; null for an unknown key. @throws Error when it cannot be decrypted. */
  async unlock(keyId: string): Promise<UnlockedKey | null> {
    const [row] = await this.database.query<ShareRow[]>(selectKey, [keyId]);
    if (!row) return null;
    const { owner, ...binding } = toBinding(row);
    const { client_id: clientId, wallet_id: walletId } = row;
    return { ...binding, clientId, walletId, share: this.cipher.open(toSealed(row), { ...binding, owner }) };
  }

  /**
   * Binds a share to its owner by encrypting it again. Idempotent for the same owner.
   * @throws GatewayError not_found; business_error when the key is another owner's, or another key is the account's. Error when the share cannot be decrypted.
   */
  bind(keyId: string, owner: KeyOwner): Promise<BoundShare> {
    return this.database.transaction(async (manager) => {
      const [row] = await manager.query<ShareRow[]>(`${selectKey} for update`, [keyId]);
      if (!row) throw new GatewayError('not_found', `this node has no share of key ${keyId}`);
      const { client_id: clientId, wallet_id: walletId } = row;
      const { owner: present, ...binding } = toBinding(row);
      const isOthers =
        (clientId ?? owner.clientId) !== owner.clientId ||
        (walletId ?? owner.walletId) !== owner.walletId ||
        (present ?? owner).accountId !== owner.accountId;
      if (isOthers) throw new GatewayError('business_error', `key ${keyId} is bound to another owner`);
      if (hasChildren(binding.protocol) === (owner.accountId !== undefined))
        throw new GatewayError(
          'business_error',
          `key ${keyId} is not of the kind that is bound to ${owner.accountId === undefined ? 'a wallet' : 'an account'}`,
        );
      // also of a share that is bound: the public key that is attested is the one that the ciphertext is bound to
      const share = this.cipher.open(toSealed(row), { ...binding, owner: present });
      const sealed = present ? null : this.cipher.seal(share, { ...binding, owner });
      share.fill(0);
      if (sealed) await storeBound(manager, keyId, sealed, owner);
      return { ...binding, ...owner };
    });
  }

  /** Counts a test signature before it is made; false when the key is bound or has had its share of them. */
  async countTestSignature(keyId: string): Promise<boolean> {
    const [, counted] = await this.database.query<[unknown, number]>(
      `update key_shares set test_signatures = test_signatures + 1
        where key_id = $1 and wallet_id is null and test_signatures < $2`,
      [keyId, maxTestSignatures],
    );
    return counted > 0;
  }

  /** Shares of keys that belong to no client and are younger than seven days: what is lost once does not keep new ones away for ever. */
  async countUnowned(): Promise<number> {
    const [found] = await this.database.query<{ count: number }[]>(
      `select count(*)::int as count from key_shares where client_id is null and created_at > now() - interval '7 days'`,
    );
    return found?.count ?? 0;
  }

  /** Whether a share is stored under this id; does not decrypt it. */
  async has(keyId: string): Promise<boolean> {
    return (await this.database.query<unknown[]>('select 1 from key_shares where key_id = $1', [keyId])).length > 0;
  }

  /** @throws Error when the database does not respond. */
  async ping(): Promise<void> {
    await this.database.query('select 1');
  }

  async close(): Promise<void> {
    if (this.database.isInitialized) await this.database.destroy();
  }
}

/**
 * An order names no family of chains, nor does the share: before a second family has keys of Ed25519, both have to, or a key that is bound
 * for an account of the one could sign for the other.
 * @throws GatewayError business_error when another key is bound to the account.
 */
async function storeBound(manager: EntityManager, keyId: string, sealed: SealedShare, owner: KeyOwner): Promise<void> {
  const { ciphertext, iv, tag, kekFingerprint } = sealed;
  const { clientId, walletId, accountId = null } = owner;
  const stored = manager.query(
    `update key_shares set ciphertext = $2, iv = $3, tag = $4, kek_fingerprint = $5, client_id = $6, wallet_id = $7, account_id = $8,
            bound_at = clock_timestamp()
      where key_id = $1`,
    [keyId, ciphertext, iv, tag, kekFingerprint, clientId, walletId, accountId],
  );
  await stored.catch((error: unknown) => {
    const { constraint } = ((error as { driverError?: unknown }).driverError ?? {}) as { constraint?: string };
    if (constraint !== 'key_shares_one_per_account') throw error;
    throw new GatewayError('business_error', `another key is bound to account ${accountId}`);
  });
}

/** Overwrites the share; the public fields remain usable. */
export function wipe(key: UnlockedKey): void {
  key.share.fill(0);
}

const connectTimeoutMs = 2_000;

/** Short time-outs: with a slow database the node fails within seconds, so that another pair of nodes can sign. */
const connect = (url: string, node: NodeIndex): Promise<DataSource> =>
  createDatabase({
    url,
    poolSize,
    applicationName: `mpc-node-${node}`,
    statementTimeoutMs: 10_000,
    connectTimeoutMs,
  }).initialize();

/** Longer than any statement of the node: nothing is signed meanwhile, and a migration that is broken off is begun again at each start. */
const migrationTimeoutMs = 600_000;

async function migrate(url: string, node: NodeIndex, migrations: (new () => object)[]): Promise<void> {
  const database = await createDatabase({
    url,
    poolSize: 1,
    applicationName: `mpc-node-${node}-migrate`,
    migrations,
    statementTimeoutMs: migrationTimeoutMs,
    connectTimeoutMs,
  }).initialize();
  try {
    await database.runMigrations({ transaction: 'each' });
  } finally {
    await database.destroy();
  }
}

type KeyContent = Pick<UnlockedKey, 'protocol' | 'publicKey' | 'chainCode' | 'share'>;

function sameKey(a: KeyContent, b: KeyContent): boolean {
  return (
    a.protocol === b.protocol &&
    a.publicKey.equals(b.publicKey) &&
    a.chainCode.equals(b.chainCode) &&
    a.share.length === b.share.length &&
    timingSafeEqual(a.share, b.share)
  );
}

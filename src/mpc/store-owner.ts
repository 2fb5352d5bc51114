import type { DataSource } from 'typeorm';
import type { NodeIndex } from '../messages/nodes';
import { ConfigError } from '../platform/config';
import type { ShareCipher } from './share-cipher';

/** Assigns a new database to this node and its first key-encryption key; an assigned one stays as it is. */
export async function claimDatabase(database: DataSource, node: NodeIndex, { fingerprint }: ShareCipher): Promise<void> {
  await database.query(
    'insert into node_identity (node_index, kek_fingerprint) values ($1, $2) on conflict (singleton) do nothing',
    [node, fingerprint],
  );
}

/**
 * Verifies that the database is this node's and that its keys open every share.
 * @throws ConfigError when it is another node's, or a key-encryption key is missing.
 */
export async function verifyOwner(database: DataSource, node: NodeIndex, { fingerprints }: ShareCipher): Promise<void> {
  const [owner] = await database.query<{ node_index: number; kek_fingerprint: string }[]>(
    'select node_index, kek_fingerprint from node_identity',
  );
  if (owner?.node_index !== node)
    throw new ConfigError(
      `MPC_NODE_DATABASE_URL names the database of node ${owner?.node_index ?? '(none)'}, but this is node ${node} (MPC_NODE_INDEX)`,
    );
  if (!fingerprints.includes(owner.kek_fingerprint))
    throw new ConfigError('MPC_NODE_KEK is not the key that the shares in MPC_NODE_DATABASE_URL are encrypted under');
  const [others] = await database.query<{ count: string }[]>(
    'select count(*) from key_shares where kek_fingerprint <> all ($1::text[])',
    [fingerprints],
  );
  if (Number(others?.count) > 0)
    throw new ConfigError(
      `MPC_NODE_KEK lacks the key of ${others?.count} shares: put it after the first one, separated by a comma (gateway keys rotate kek)`,
    );
}

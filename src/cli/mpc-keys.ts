import type { DataSource } from 'typeorm';
import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import type { Row } from './output';

export interface KeyFilter {
  /** Only this key. */
  keyId?: string | undefined;
  /** Only keys after this one, in the order of their ids. */
  after?: string | undefined;
  limit: number;
}

/** Two nodes that do not sign together by a key, because one of them has banned the other. */
interface Ban {
  by: NodeIndex;
  banned: NodeIndex;
}

interface KeyRow {
  node: NodeIndex;
  key_id: string;
  protocol: string;
  public_key: string;
  wallet_id: string | null;
  client_id: string | null;
  account_id: string | null;
  created_at: Date;
  bound_at: Date | null;
  signatures: string;
  failed_sessions: string;
  bans: Ban[];
}

/**
 * `unbound`: it signs no transaction. Then by the bans that this node knows, its own and those its peers have told it: `usable` with
 * both peers, `degraded` when at least one pair of nodes does not sign by it any more, `frozen` when no pair does.
 */
type KeyState = 'unbound' | 'usable' | 'degraded' | 'frozen';

/** The keys that a node has a share of, in the order of their ids; shares are not read. */
export async function listKeys(database: DataSource, { keyId, after, limit }: KeyFilter): Promise<Row[]> {
  const rows = await database.query<KeyRow[]>(
    `select (select node_index from node_identity) as node, k.key_id, k.protocol, '0x' || encode(k.public_key, 'hex') as public_key,
            k.wallet_id, k.client_id, k.account_id, k.created_at, k.bound_at,
            (select count(*) from journal j where j.key_id = k.key_id and j.outcome = 'signed') as signatures,
            (select count(*) from journal j where j.key_id = k.key_id and j.outcome = 'failed') as failed_sessions,
            coalesce((select json_agg(json_build_object('by', b.by, 'banned', b.peer) order by b.by, b.peer)
                        from (select (select node_index from node_identity) as by, key_id, peer from bans
                              union all select node, key_id, peer from peer_bans) b where b.key_id = k.key_id), '[]') as bans
       from key_shares k where ($1::text is null or k.key_id = $1) and ($2::text is null or k.key_id > $2)
      order by k.key_id limit $3`,
    [keyId ?? null, after ?? null, limit],
  );
  return rows.map(toRow);
}

function toRow({ node, bans, key_id, protocol, public_key, wallet_id, client_id, account_id, ...rest }: KeyRow): Row {
  const { created_at, bound_at, ...counts } = rest;
  const signsWith = wallet_id === null ? [] : nodeIndexes.filter((peer) => peer !== node && !isApart(bans, node, peer));
  return {
    key_id,
    state: toState(wallet_id, bans),
    signs_with: signsWith.join(' ') || null,
    bans: bans.map(({ by, banned }) => `${banned} by ${by}`).join(', ') || null,
    ...counts,
    wallet_id,
    client_id,
    account_id,
    protocol,
    created_at,
    bound_at,
    public_key,
  };
}

const pairs = nodeIndexes.flatMap((one) => nodeIndexes.filter((other) => other > one).map((other) => [one, other] as const));

const isApart = (bans: Ban[], one: NodeIndex, other: NodeIndex): boolean =>
  bans.some(({ by, banned }) => (by === one && banned === other) || (by === other && banned === one));

function toState(walletId: string | null, bans: Ban[]): KeyState {
  if (walletId === null) return 'unbound';
  const left = pairs.filter(([one, other]) => !isApart(bans, one, other)).length;
  if (left === 0) return 'frozen';
  return left === pairs.length ? 'usable' : 'degraded';
}

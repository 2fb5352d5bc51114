import type { DataSource } from 'typeorm';
import type { NodeIndex } from '../messages/nodes';
import { maxFailedSessions } from './journal';
import type { SignedStatement } from './statement';

/** Bans of one peer that are kept for it; more than a peer with honest reasons makes. */
export const maxPeerBans = 5_000;

export interface StoredBan {
  keyId: string;
  peer: NodeIndex;
  statement: SignedStatement;
}

interface BanRow {
  key_id: string;
  peer: NodeIndex;
  statement: string;
  statement_signature: Buffer;
}

/** This node's own. */
export async function loadBans(database: DataSource): Promise<StoredBan[]> {
  const rows = await database.query<BanRow[]>('select key_id, peer, statement, statement_signature from bans');
  return rows.map(({ key_id: keyId, peer, statement: text, statement_signature: signature }) => ({
    keyId,
    peer,
    statement: { text, signature },
  }));
}

/** This node's own, in one order, so that the same ban from both peers at once is no deadlock. */
export async function storeBans(database: DataSource, statements: SignedStatement[]): Promise<void> {
  await database.query(
    `insert into bans (key_id, peer, statement, statement_signature)
     select text::jsonb ->> 'key_id', (text::jsonb ->> 'peer')::smallint, text, signature
       from unnest($1::text[], $2::bytea[]) as given (text, signature) order by 1, 2 on conflict do nothing`,
    [statements.map(({ text }) => text), statements.map(({ signature }) => signature)],
  );
}

/** Keys and peers with as many failed sessions in the journal as are a reason for a ban, and no ban. */
export async function findOverdue(database: DataSource): Promise<{ keyId: string; peer: NodeIndex; failed: number }[]> {
  const rows = await database.query<{ key_id: string; peer: NodeIndex; failed: string }[]>(
    `select key_id, peer, count(*) as failed from journal j
      where outcome = 'failed' and not exists (select from bans b where b.key_id = j.key_id and b.peer = j.peer)
      group by key_id, peer having count(*) >= $1`,
    [maxFailedSessions],
  );
  return rows.map(({ key_id: keyId, peer, failed }) => ({ keyId, peer, failed: Number(failed) }));
}

/** A ban that another node has made. Returns whether it is new and was stored. */
export async function storePeerBan(
  database: DataSource,
  author: NodeIndex,
  { keyId, peer, statement }: StoredBan,
): Promise<boolean> {
  const stored = await database.query<unknown[]>(
    `insert into peer_bans (node, key_id, peer, statement, signature)
     select $1::smallint, $2, $3::smallint, $4, $5::bytea where (select count(*) from peer_bans where node = $1) < $6
     on conflict do nothing returning node`,
    [author, keyId, peer, statement.text, statement.signature, maxPeerBans],
  );
  return stored.length > 0;
}

/** How many nodes have banned each node, for whatever keys. */
export async function countAuthors(database: DataSource, self: NodeIndex): Promise<{ peer: number; authors: number }[]> {
  const rows = await database.query<{ peer: number; authors: string }[]>(
    `select peer, count(distinct author) as authors
       from (select $1::smallint as author, peer from bans union all select node, peer from peer_bans) b
      where author <> peer group by peer`,
    [self],
  );
  return rows.map(({ peer, authors }) => ({ peer, authors: Number(authors) }));
}

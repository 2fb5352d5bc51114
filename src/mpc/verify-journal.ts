import type { DataSource } from 'typeorm';
import type { NodeIndex } from '../messages/nodes';
import { readBan } from './ban';
import { readRows } from './cursor';
import type { PublicKeys } from './identity';
import { readEntry } from './journal-entry';
import { findSigner, type SignedStatement, type StatementType } from './statement';
import type { OwnCopies } from './own-copies';

export interface JournalDifference {
  table: string;
  subject: string;
  difference: string;
}

interface Signed {
  node: NodeIndex;
  subject: string;
  statement: string;
  signature: Buffer;
  /** The columns have the values of the statement. */
  agrees: boolean;
}

interface SignedTable {
  table: string;
  type: StatementType;
  /** Whether every row must be signed by this node itself. */
  own: boolean;
  select: string;
}

const tables: SignedTable[] = [
  {
    table: 'journal',
    type: 'entry',
    own: true,
    select: `select (statement::jsonb ->> 'node')::int as node, number::text as subject, statement, statement_signature as signature,
                    jsonb_populate_record(j, statement::jsonb) is not distinct from j as agrees from journal j order by number`,
  },
  {
    table: 'bans',
    type: 'ban',
    own: true,
    select: `select (statement::jsonb ->> 'node')::int as node, key_id || ' with node ' || peer as subject, statement,
                    statement_signature as signature,
                    statement::jsonb @> jsonb_build_object('key_id', key_id, 'peer', peer) as agrees from bans`,
  },
  {
    table: 'refusals',
    type: 'refusal',
    own: true,
    select: `select (statement::jsonb ->> 'node')::int as node, tx_id || ' attempt ' || attempt as subject, statement,
                    statement_signature as signature,
                    statement::jsonb @> jsonb_build_object('tx_id', tx_id, 'attempt', attempt, 'reason', reason) as agrees from refusals`,
  },
  {
    table: 'peer_entries',
    type: 'entry',
    own: false,
    select: `select node::int, node || '/' || number as subject, statement, signature,
                    statement::jsonb @> jsonb_build_object('node', node, 'number', number) as agrees from peer_entries`,
  },
  {
    table: 'peer_bans',
    type: 'ban',
    own: false,
    select: `select node::int, key_id || ' with node ' || peer as subject, statement, signature,
                    statement::jsonb @> jsonb_build_object('node', node, 'key_id', key_id, 'peer', peer) as agrees from peer_bans`,
  },
];

/** Verifies signatures and columns of everything that this node has signed, or keeps for its peers. */
export async function* verifyStatements(
  database: DataSource,
  self: NodeIndex,
  getKeys: (party: NodeIndex) => PublicKeys,
): AsyncIterable<JournalDifference> {
  for (const { table, type, own, select } of tables) {
    for await (const { node, subject, statement: text, signature, agrees } of readRows<Signed>(database, select)) {
      if (own && node !== self) yield { table, subject, difference: `is signed as node ${node}` };
      else if (!findSigner(type, { text, signature }, getKeys(node)))
        yield { table, subject, difference: 'its signature does not verify' };
      else if (!agrees) yield { table, subject, difference: 'the columns differ from the signed statement' };
    }
  }
}

/** Compares what a peer keeps of this node's journal and bans with the tables themselves. */
export async function* verifyCopies(
  database: DataSource,
  peer: NodeIndex,
  copies: AsyncIterable<OwnCopies>,
): AsyncIterable<JournalDifference> {
  const table = `copies at node ${peer}`;
  for await (const { entries, bans } of copies) {
    const numbers = entries.map((entry) => readEntry(entry).number);
    const own = await texts(database, 'select statement from journal where number = any($1::bigint[])', [numbers]);
    for (const [at, entry] of entries.entries())
      if (!own.has(entry.text)) yield { table, subject: String(numbers[at]), difference: 'the journal does not have this entry' };
    const ownBans = bans.length > 0 ? await texts(database, 'select statement from bans', []) : new Set();
    for (const ban of bans.filter(({ text }) => !ownBans.has(text)))
      yield { table, subject: describeBan(ban), difference: 'this node does not have this ban' };
  }
}

const texts = async (database: DataSource, select: string, values: unknown[]): Promise<Set<string>> =>
  new Set((await database.query<{ statement: string }[]>(select, values)).map(({ statement }) => statement));

function describeBan(statement: Pick<SignedStatement, 'text'>): string {
  const { key_id: keyId, peer } = readBan(statement);
  return `${keyId} with node ${peer}`;
}

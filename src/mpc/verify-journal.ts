import type { KeyObject } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { NodeIndex } from '../messages/nodes';
import { hashStatement, type StatementType, verifyStatement } from './statement';
import type { OwnCopies } from './take-back';

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
  /** The columns say what the statement says. */
  agrees: boolean;
}

const pageRows = 1_000;

/** What is signed, by whom, and how its rows are read in the order of `position`. */
const tables: { table: string; type: StatementType; select: string }[] = [
  {
    table: 'journal',
    type: 'entry',
    select: `select (j.statement::jsonb ->> 'node')::int as node, j.number::text as subject, j.number as position, j.statement,
                    j.statement_signature as signature, jsonb_populate_record(j, j.statement::jsonb) is not distinct from j as agrees
               from journal j`,
  },
  {
    table: 'bans',
    type: 'ban',
    select: `select (statement::jsonb ->> 'node')::int as node, key_id || ' with node ' || peer as subject, row_number() over (order by key_id, peer) as position,
                    statement, statement_signature as signature,
                    statement::jsonb ->> 'key_id' = key_id and statement::jsonb ->> 'peer' = peer::text as agrees from bans`,
  },
  {
    table: 'peer_entries',
    type: 'entry',
    select: `select node::int, node || '/' || number as subject, row_number() over (order by node, number) as position, statement, signature,
                    statement::jsonb ->> 'node' = node::text and statement::jsonb ->> 'number' = number::text as agrees from peer_entries`,
  },
];

/** Signatures and columns of everything that this node has signed, or keeps for its peers. */
export async function* verifyStatements(
  database: DataSource,
  self: NodeIndex,
  publicKeyOf: (party: NodeIndex) => KeyObject,
): AsyncIterable<JournalDifference> {
  for (const { table, type, select } of tables) {
    for await (const { node, subject, statement: text, signature, agrees } of rows(database, select)) {
      if (table !== 'peer_entries' && node !== self) yield { table, subject, difference: `is signed as node ${node}` };
      else if (!verifyStatement(type, { text, signature }, publicKeyOf(node)))
        yield { table, subject, difference: 'its signature does not verify' };
      else if (!agrees) yield { table, subject, difference: 'the columns say something else than the signed statement' };
    }
  }
}

/** What a peer keeps of this node's journal, against the journal itself. */
export async function* verifyCopies(
  database: DataSource,
  peer: NodeIndex,
  copies: AsyncIterable<OwnCopies>,
): AsyncIterable<JournalDifference> {
  for await (const { entries } of copies) {
    const own = await database.query<{ statement: string }[]>('select statement from journal where statement = any($1::text[])', [
      entries.map(({ text }) => text),
    ]);
    const known = new Set(own.map(({ statement }) => hashStatement({ text: statement })));
    for (const entry of entries.filter((copy) => !known.has(hashStatement(copy))))
      yield {
        table: `copies at node ${peer}`,
        subject: entry.text.slice(0, 80),
        difference: 'the journal does not have this entry',
      };
  }
}

async function* rows(database: DataSource, select: string): AsyncIterable<Signed> {
  let position = '-1';
  for (let count = pageRows; count === pageRows;) {
    const page = await database.query<(Signed & { position: string })[]>(
      `select * from (${select}) s where position > $1 order by position limit $2`,
      [position, pageRows],
    );
    yield* page;
    count = page.length;
    position = page.at(-1)?.position ?? position;
  }
}

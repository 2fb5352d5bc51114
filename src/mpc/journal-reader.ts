import type { KeyObject } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { JournalRequest, SignedAnswer } from '../messages/journal';
import type { NodeIndex } from '../messages/nodes';
import {
  type AnsweredEntry,
  type AnswerFields,
  maxAnsweredEntries,
  maxAnsweredLength,
  maxAnsweredRefusals,
} from './journal-answer';
import { withinLength } from './signed-answer';
import { signStatement, toWire, type WireStatement } from './statement';

interface StatementRow {
  statement: string;
  signature: Buffer;
}

interface EntryRow extends StatementRow {
  outcome: string | null;
  session: string | null;
}

/** Tells, signed, what this node has admitted and refused about one transaction. Changes nothing, and needs no order. */
export class JournalReader {
  constructor(
    private readonly database: DataSource,
    private readonly self: NodeIndex,
    private readonly signingKey: KeyObject,
  ) {}

  async answer({ txId, nonce }: JournalRequest): Promise<SignedAnswer> {
    const [entries, refusals] = await Promise.all([this.readEntries(txId), this.readRefusals(txId)]);
    const told = withinLength(entries.slice(0, maxAnsweredEntries), maxAnsweredLength, ({ statement }) => statement.length);
    const fields: AnswerFields = {
      node: this.self,
      tx_id: txId,
      nonce,
      answered_at: new Date().toISOString(),
      entries: told.map(({ outcome, session, ...row }): AnsweredEntry => ({ statement: wire(row), outcome, session })),
      refusals: refusals.slice(0, maxAnsweredRefusals).map(wire),
      is_complete: told.length === entries.length && refusals.length <= maxAnsweredRefusals,
    };
    return toWire(signStatement('answer', fields, this.signingKey));
  }

  /** One more than an answer has room for, to see that there are more. */
  private readEntries(txId: string): Promise<EntryRow[]> {
    return this.database.query<EntryRow[]>(
      `select statement, statement_signature as signature, outcome, encode(session, 'hex') as session
         from journal where tx_id = $1 order by number desc limit $2`,
      [txId, maxAnsweredEntries + 1],
    );
  }

  private readRefusals(txId: string): Promise<StatementRow[]> {
    return this.database.query<StatementRow[]>(
      'select statement, statement_signature as signature from refusals where tx_id = $1 order by refused_at desc limit $2',
      [txId, maxAnsweredRefusals + 1],
    );
  }
}

const wire = ({ statement: text, signature }: StatementRow): WireStatement => toWire({ text, signature });

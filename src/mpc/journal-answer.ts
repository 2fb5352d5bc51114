import Joi from 'joi';
import type { JournalRequest, SignedAnswer } from '../messages/journal';
import { type NodeIndex, nodeIndexes } from '../messages/nodes';
import type { NodeKeys } from './identity';
import { type EntryFields, readEntry } from './journal-entry';
import { readRefusal, type RefusalFields } from './policy-refusal';
import { readSignedAnswer } from './signed-answer';
import { findSigner, fromWire, type WireStatement, wireStatementSchema } from './statement';

/** Newest entries and refusals in one answer; with them the answer is far below the size limit of Temporal payloads. */
export const maxAnsweredEntries = 100;
export const maxAnsweredRefusals = 50;
/** Characters of the entries' statements together. */
export const maxAnsweredLength = 100_000;

/** Fields of an answer's statement. */
export interface AnswerFields extends JournalAnswer {
  node: NodeIndex;
  tx_id: string;
  nonce: string;
  /** ISO 8601. */
  answered_at: string;
}

interface JournalAnswer {
  /** Newest first. How a session ended is not part of the entry's statement: this answer signs it. */
  entries: AnsweredEntry[];
  refusals: WireStatement[];
  /** False when older ones were left out. */
  is_complete: boolean;
}

export interface AnsweredEntry {
  statement: WireStatement;
  /** null: the session runs, or the node ended without a word (migrations/mpc-node/0003-journal.ts). */
  outcome: string | null;
  /** Id in hex. */
  session: string | null;
}

const schema = Joi.object<AnswerFields, true>({
  node: Joi.number()
    .valid(...nodeIndexes)
    .required(),
  tx_id: Joi.string().max(100).required(),
  nonce: Joi.string().max(100).required(),
  answered_at: Joi.string().isoDate().required(),
  entries: Joi.array()
    .items(
      Joi.object<AnsweredEntry, true>({
        statement: wireStatementSchema.required(),
        outcome: Joi.string().max(20).allow(null).required(),
        session: Joi.string().hex().max(128).allow(null).required(),
      }),
    )
    .max(maxAnsweredEntries)
    .required(),
  refusals: Joi.array().items(wireStatementSchema).max(maxAnsweredRefusals).required(),
  is_complete: Joi.boolean().required(),
}).required();

/** What a node has on record about one transaction. */
export interface NodeJournal {
  node: NodeIndex;
  entries: (Omit<AnsweredEntry, 'statement'> & { fields: EntryFields })[];
  refusals: RefusalFields[];
  isComplete: boolean;
}

/** @throws Error unless it is this node's own answer to this request, and everything in it is signed by the node and about the transaction. */
export function readAnswer(answer: SignedAnswer, node: NodeIndex, { txId, nonce }: JournalRequest, keys: NodeKeys): NodeJournal {
  const fields = readSignedAnswer('answer', answer, node, keys, schema);
  if (fields.node !== node || fields.tx_id !== txId || fields.nonce !== nonce) throw new Error('it answers another question');
  const entries = fields.entries.map(({ statement, ...ended }) => ({ ...ended, fields: readOwnEntry(statement, node, keys) }));
  const refusals = fields.refusals.map((refusal) => {
    const read = readRefusal(refusal, keys);
    if (!read) throw new Error('the signature of a refusal does not verify');
    return read;
  });
  for (const statement of [...entries.map((entry) => entry.fields), ...refusals])
    if (statement.node !== node || statement.tx_id !== txId) throw new Error('it contains a statement about something else');
  return { node, entries, refusals, isComplete: fields.is_complete };
}

function readOwnEntry(statement: WireStatement, node: NodeIndex, keys: NodeKeys): EntryFields {
  const entry = fromWire(statement);
  if (!findSigner('entry', entry, keys.get(node) ?? [])) throw new Error('the signature of an entry does not verify');
  return readEntry(entry);
}

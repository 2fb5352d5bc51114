import { isDeepStrictEqual } from 'node:util';
import type { NodeIndex } from '../messages/nodes';
import type { NodeJournal } from '../mpc/journal-answer';
import type { OrderReport } from './order-operations';

/** What one node has on record about one order. */
export interface OrderRecord {
  node: NodeIndex;
  /** `admitted`: an entry of its journal; `refused`: by its own limits. */
  record: 'admitted' | 'refused';
  attempt: number;
  /** Position of the signing payload; null for a refusal. */
  payload: number | null;
  /** How the session ended, `open` while it runs; of a refusal the reason. */
  outcome: string;
  /** The other node of the session, and the one that began it. */
  peer: NodeIndex | null;
  initiator: NodeIndex | null;
  /** Id of the session in hex; null if none was agreed on. */
  session: string | null;
  /** ISO 8601, by the node's clock. */
  at: string;
  /** False: the node has admitted other digests than the order permits. null for a refusal. */
  as_ordered: boolean | null;
}

export interface JoinedJournals {
  /** In the order of the given orders. */
  orders: (OrderReport & { journal: OrderRecord[] })[];
  /** Records of orders that the database does not have: the order key was copied, or the database was changed. */
  without_order: (OrderRecord & { order_sha256: string })[];
}

/** Something that a node has signed about an order. */
interface Statement {
  orderHash: string;
  at: string;
  names: (order: OrderReport) => boolean;
  toRecord: (order: OrderReport | null) => OrderRecord;
}

/** Puts every record of the nodes to the order that it names. */
export function joinJournals(orders: OrderReport[], journals: NodeJournal[]): JoinedJournals {
  const joined = orders.map((order) => ({ ...order, journal: [] as OrderRecord[] }));
  const withoutOrder: JoinedJournals['without_order'] = [];
  const statements = journals.flatMap((journal) => [...getEntries(journal), ...getRefusals(journal)]);
  for (const { orderHash, names, toRecord } of statements.sort((a, b) => a.at.localeCompare(b.at))) {
    const order = joined.find(({ order_sha256: hash }) => hash === orderHash) ?? joined.find(names);
    if (order) order.journal.push(toRecord(order));
    else withoutOrder.push({ ...toRecord(null), order_sha256: orderHash });
  }
  return { orders: joined, without_order: withoutOrder };
}

const getEntries = ({ node, entries }: NodeJournal): Statement[] =>
  entries.map(({ fields, outcome, session }) => ({
    orderHash: fields.order_hash,
    at: fields.admitted_at,
    // the hash of an order is not known once Temporal has removed the workflow's history
    names: (order) => order.order_sha256 === null && order.seq === fields.order_seq,
    toRecord: (order) => ({
      node,
      record: 'admitted',
      attempt: fields.attempt,
      payload: fields.payload,
      outcome: outcome ?? 'open',
      peer: fields.peer,
      initiator: fields.initiator,
      session,
      at: fields.admitted_at,
      as_ordered: order?.attempt === fields.attempt && isDeepStrictEqual(order.digests, fields.digests),
    }),
  }));

/** A refusal has no running number: without a hash it is put to the first order of its attempt. */
const getRefusals = ({ node, refusals }: NodeJournal): Statement[] =>
  refusals.map(({ attempt, reason, order_hash: orderHash, refused_at: at }) => ({
    orderHash,
    at,
    names: (order) => order.order_sha256 === null && order.attempt === attempt,
    toRecord: () => ({
      node,
      record: 'refused',
      attempt,
      payload: null,
      outcome: reason,
      peer: null,
      initiator: null,
      session: null,
      at,
      as_ordered: null,
    }),
  }));

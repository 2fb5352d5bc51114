import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@temporalio/client';
import type { DataSource } from 'typeorm';
import type { AccountOnChain, LedgerDifference } from '../ledger/compare-with-chain';
import { verifyLedger } from '../ledger/verify';
import { type NodeIndex, nodeIndexes, quorum } from '../messages/nodes';
import type { SigningClaims } from '../messages/order';
import type { NodeKeys } from '../mpc/identity';
import type { NodeJournal } from '../mpc/journal-answer';
import { mapBounded } from '../platform/map-bounded';
import type { GetClient } from './explain/chain';
import { readNodeJournals } from './node-journals';
import { AskedChains, Balances } from './reconcile-balances';
import { compareDoubts, doubtCheck, type ExplainedDoubt, subjectOf } from './reconcile-doubts';

/** Something that two of books, journals and chains say differently. */
export type Difference = LedgerDifference;

/** What was compared, and what of it differs. */
export interface Equality {
  /** Orders that the nodes have shown, each of which the database has. */
  orders: number;
  /** Transfers that were rebuilt, whose entries in the journals of the nodes were compared; the newest ones. */
  transfers: number;
  /** Older ones that were rebuilt, and were not compared. */
  older: number;
  /** Transactions, keys and orders that an operator has accepted as missing: of what became of them the books know nothing. */
  acceptedAsMissing: number;
  /** Of the compared transfers, those that have not ended. */
  open: number;
  /** Balances that were read from a chain, of the accounts of these transfers. */
  balances: number;
  /** Chains of these accounts that were not asked for balances. */
  notAsked: string[];
  /** Accounts of which a chain has counted more transactions than the books had, and the books now have them all, or the chain counts no more. */
  explained: ExplainedDoubt[];
  /** What differed at every reading. */
  differences: Difference[];
}

/** False: something was not compared, and nobody can say that all is equal. */
export const isAllCompared = ({ older, acceptedAsMissing, notAsked }: Equality): boolean =>
  older === 0 && acceptedAsMissing === 0 && notAsked.length === 0;

export interface EqualityOptions {
  database: DataSource;
  /** Journals of the nodes about a transfer, of those that have answered. */
  readJournals: (txId: string) => Promise<NodeJournal[]>;
  getClient: GetClient;
  /** Orders that the nodes have shown. */
  orders: number;
  /** How many nodes have to show their journals. */
  needed: number;
  /** Milliseconds between two readings of what differs. */
  againAfterMs?: number;
  /** Rebuilt transfers that are compared. */
  maxTransfers?: number;
}

interface RebuiltTransfer {
  tx_id: string;
  /** Whose balance it changes: of a settlement that of its settler. null: the database does not have it. */
  account_id: string | null;
  is_open: boolean;
}

/** Each is a question to every node. */
const defaultMaxTransfers = 200;
/** A node that is down is waited for as long as a question takes. */
const askedAtOnce = 10;
const maxDifferences = 100;
/** A block, or a step of a transfer, between two readings is a difference for a moment. */
const readings = 4;

export const readsJournals =
  (temporal: Client, keys: NodeKeys): EqualityOptions['readJournals'] =>
  async (txId) =>
    (await readNodeJournals(temporal, txId, keys)).flatMap(({ journal }) => journal ?? []);

/**
 * Once the database lacks no order that the nodes show: compares it with itself (`gateway ledger verify`), its orders with the requests that
 * they name, what was rebuilt with the journals of the nodes, and the balances of its accounts with their chains. Changes nothing.
 */
export async function compareRebuilt(options: EqualityOptions): Promise<Equality> {
  let lasting: Set<string> | undefined;
  const unexplained = new Set<string>();
  for (let reading = 1; ; reading += 1) {
    const equality = await compareOnce(options);
    // a busy gateway differs somewhere at each reading, but not in the same place
    const differences = equality.differences.filter((difference) => lasting?.has(placeOf(difference)) ?? true);
    for (const { check, subject } of equality.differences) if (check === doubtCheck) unexplained.add(subject);
    // an account stays closed although one answer of two says that nothing is left to explain
    const explained = equality.explained.filter((doubt) => !unexplained.has(subjectOf(doubt)));
    if (differences.length === 0 || reading === readings) return { ...equality, explained, differences };
    lasting = new Set(differences.map(placeOf));
    await delay(options.againAfterMs ?? 3_000);
  }
}

const placeOf = ({ check, subject }: Difference): string => JSON.stringify([check, subject]);

async function compareOnce(options: EqualityOptions): Promise<Equality> {
  const { database, readJournals, getClient, orders, needed, maxTransfers = defaultMaxTransfers } = options;
  const [counts, rebuilt] = await Promise.all([countSubjects(database), findRebuilt(database, maxTransfers)]);
  const differences = await findForgottenRequests(database);
  const journals = await mapBounded(rebuilt, askedAtOnce, async ({ tx_id: txId }) =>
    compareJournals(database, txId, await readJournals(txId), needed),
  );
  differences.push(...journals.flat());
  const chains = new AskedChains(getClient);
  const balances = new Balances(database.manager, chains);
  const doubts = await compareDoubts(database.manager, chains);
  differences.push(...doubts.differences);
  const accountIds = [...new Set([...rebuilt.flatMap(({ account_id: id }) => id ?? []), ...doubts.accountIds])];
  const balanceOnChain = (account: AccountOnChain) => balances.read(account);
  differences.push(
    ...(await verifyLedger(database.manager, { balanceOnChain, accountIds, limit: maxDifferences })),
    ...balances.problems,
    ...chains.problems,
  );
  const open = rebuilt.filter(({ is_open: isOpen }) => isOpen).length;
  const { count } = balances;
  const notAsked = new Set([...chains.notAsked, ...balances.notAsked]);
  const [transfers, older] = [rebuilt.length, counts.rebuilt - rebuilt.length];
  const { acceptedAsMissing } = counts;
  return {
    ...{ orders, transfers, older, acceptedAsMissing, open, balances: count, notAsked: [...notAsked].sort(), differences },
    explained: doubts.explained,
  };
}

/** By the audit log, from which nothing is removed. */
async function countSubjects(database: DataSource): Promise<{ rebuilt: number; acceptedAsMissing: number }> {
  const [row] = await database.query<[{ rebuilt: string; missing: string }]>(
    `select count(distinct t.tx_id) filter (where e.action = 'orders.rebuilt') as rebuilt,
            count(distinct e.subject_id) filter (where e.action = 'orders.accepted_as_missing') as missing
       from audit_events e left join transactions t on e.subject_type = 'transaction' and t.tx_id::text = e.subject_id
      where e.action in ('orders.rebuilt', 'orders.accepted_as_missing')`,
  );
  return { rebuilt: Number(row.rebuilt), acceptedAsMissing: Number(row.missing) };
}

/** The newest ones. */
const findRebuilt = (database: DataSource, maxTransfers: number): Promise<RebuiltTransfer[]> =>
  database.query<RebuiltTransfer[]>(
    `select t.tx_id, t.ended_at is null as is_open,
            coalesce(t.account_id, (select a.account_id from settlers s join accounts a using (account_id)
                                     where s.chain = t.chain and a.address = t.sender_address limit 1)) as account_id
       from audit_events e join transactions t on t.tx_id::text = e.subject_id
      where e.action = 'orders.rebuilt' and e.subject_type = 'transaction'
      group by t.tx_id order by max(e.at) desc limit $1`,
    [maxTransfers],
  );

/** Orders by whose Idempotency-Key a repeated request would not find its transfer: it would pay again. */
async function findForgottenRequests(database: DataSource): Promise<Difference[]> {
  const rows = await database.query<{ tx_id: string }[]>(
    `select distinct o.tx_id from orders o join transactions t using (tx_id)
      where o.claims ->> 'request' is not null and t.idempotency_key is null
        and not exists (select from rebuilt_requests r where r.request = o.claims ->> 'request' and r.tx_id = o.tx_id)
      limit ${maxDifferences}`,
  );
  const check = 'a repeated request finds its transfer';
  return rows.map(({ tx_id: subject }) => ({ check, subject, expected: 'the hash of its Idempotency-Key', actual: 'none' }));
}

/** Every entry is about an order of the database, and every signature of the database has the entries of two nodes. */
async function compareJournals(
  database: DataSource,
  txId: string,
  journals: readonly NodeJournal[],
  needed: number,
): Promise<Difference[]> {
  if (journals.length < needed)
    return [{ check: 'the nodes show their journals', subject: txId, expected: String(needed), actual: String(journals.length) }];
  const [orders, signed] = await Promise.all([
    database.query<{ claims: SigningClaims }[]>('select claims from orders where tx_id = $1', [txId]),
    database.query<{ attempt: number }[]>('select attempt from transfer_attempts where tx_id = $1 and signed is not null', [
      txId,
    ]),
  ]);
  const differences: Difference[] = [];
  const admitted = new Map<number, Set<NodeIndex>>();
  for (const { node, entries } of journals)
    for (const { fields } of entries) {
      const { attempt, order_seq: seq, digests } = fields;
      admitted.set(attempt, (admitted.get(attempt) ?? new Set()).add(node));
      const isOrdered = orders.some(
        ({ claims }) =>
          claims.seq === seq &&
          claims.attempt === attempt &&
          isDeepStrictEqual(
            claims.signers.flatMap((signer) => signer.digests),
            digests,
          ),
      );
      if (isOrdered) continue;
      const check = 'every entry of a journal has its order';
      differences.push({ check, subject: `${txId} attempt ${attempt} node ${node}`, expected: `order ${seq}`, actual: 'none' });
    }
  // of a node that is left out, or that has more entries than it shows, nothing is said
  const silent = nodeIndexes.length - journals.filter(({ isComplete }) => isComplete).length;
  for (const { attempt } of signed) {
    const nodes = admitted.get(attempt)?.size ?? 0;
    if (nodes + silent >= quorum) continue;
    const check = 'what is signed stands in the journals of two nodes';
    differences.push({ check, subject: `${txId} attempt ${attempt}`, expected: String(quorum), actual: String(nodes) });
  }
  return differences;
}

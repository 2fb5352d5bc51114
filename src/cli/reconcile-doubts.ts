import type { DataSource, EntityManager } from 'typeorm';
import { audit } from '../audit/log';
import { doubtIsPast, dropDoubtedOrdinal } from '../chains/reservations';
import type { LedgerDifference } from '../ledger/compare-with-chain';
import { inTransaction } from '../platform/database';
import { GatewayError } from '../platform/errors';
import { currentOperator } from './operator';
import type { AskedChains } from './reconcile-balances';

/** An account for which nothing was begun or accepted, since a chain counted more transactions of it than the books had. */
export interface ExplainedDoubt {
  accountId: string;
  clientId: string;
  chain: string;
  addressKey: string;
  address: string;
  /** So many the chain had counted. */
  reported: bigint;
  /** When it was reported last, as text of the database: microseconds count. */
  seenAt: string;
}

export interface ComparedDoubts {
  /** Of all doubted accounts. */
  accountIds: string[];
  explained: ExplainedDoubt[];
  differences: LedgerDifference[];
}

interface DoubtRow {
  chain: string;
  owner: string;
  account_id: string;
  client_id: string;
  address: string;
  reported: string;
  seen_at: string;
  /** What was reported would be final by now. */
  is_past: boolean;
  /** All lower ordinals are those of transactions in the database, or were accepted by an operator. */
  known: string;
}

/** More are not compared at once. */
const maxDoubts = 1_000;
export const doubtCheck = 'the chain counts no transaction that the books do not have';

/** Names the account and the chain in a difference. */
export const subjectOf = ({ accountId, chain, address }: Pick<ExplainedDoubt, 'accountId' | 'chain' | 'address'>): string =>
  `${accountId} ${chain} ${address}`;

/**
 * Whether the books have by now what chains have counted (`doubted_ordinals`): of each such account no more transactions are final than the
 * rows explain, and what was reported is explained too, or has not become final within an hour.
 */
export async function compareDoubts(manager: EntityManager, chains: AskedChains): Promise<ComparedDoubts> {
  const rows = await manager.query<DoubtRow[]>(
    `select d.chain, d.owner, d.account_id, a.client_id, a.address, d.reported, d.seen_at::text, ${doubtIsPast} as is_past,
            greatest((select max(below) from foreign_ordinals f where (f.chain, f.owner) = (d.chain, d.owner)),
                     (select max(ordinal) + 1 from reservations r where (r.chain, r.owner) = (d.chain, d.owner)), 0) as known
       from doubted_ordinals d join accounts a using (account_id) order by d.since limit ${maxDoubts}`,
  );
  const compared: ComparedDoubts = { accountIds: rows.map(({ account_id: id }) => id), explained: [], differences: [] };
  for (const row of rows) {
    const { account_id: accountId, client_id: clientId, chain, owner: addressKey, address } = row;
    const doubted = { accountId, clientId, chain, addressKey, address };
    const actual = await findUnexplained(row, chains);
    if (actual === null) compared.explained.push({ ...doubted, reported: BigInt(row.reported), seenAt: row.seen_at });
    else compared.differences.push({ check: doubtCheck, subject: subjectOf(doubted), expected: row.known, actual });
  }
  return compared;
}

/** null: nothing is. */
async function findUnexplained({ chain, address, reported, known, is_past: isPast }: DoubtRow, chains: AskedChains) {
  const client = await chains.find(chain);
  if (!client) return `${reported} reported, and the chain was not asked`;
  try {
    const used = await client.usedOrdinals(address);
    if (used !== null && used > BigInt(known)) return String(used);
    return BigInt(reported) <= BigInt(known) || isPast ? null : `${reported} reported, and not final yet: repeat it in an hour`;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return `${reported} reported; ${error.message}`;
  }
}

/** Once all is equal: transfers of these accounts are accepted and begun again, unless a chain has counted higher again meanwhile. */
export async function dropExplained(database: DataSource, explained: readonly ExplainedDoubt[]): Promise<void> {
  for (const { accountId, clientId, reported, seenAt, ...owner } of explained)
    await inTransaction(database, async (manager) => {
      if (!(await dropDoubtedOrdinal(manager, owner, reported, seenAt))) return;
      await audit(manager, {
        action: 'account.reconciled',
        outcome: 'success',
        actor: currentOperator(),
        clientId,
        subject: { type: 'account', id: accountId },
        detail: { chain: owner.chain, count: reported.toString() },
      });
    });
}

import type { EntityManager } from 'typeorm';
import { AccountEntity } from '../accounts/entity';
import type { OrderedPage } from '../http/list-page';
import { type CountedRows, toTotal } from '../http/list-totals';
import { entityColumns } from '../platform/entity-columns';
import { WalletEntity } from '../wallets/entity';
import { TransactionEntity } from './entity';
import type { NamedRows } from './shown-addresses';

/** Rows of transactions as the API shows them, with those that say whether their addresses may be shown: one statement reads all of it. */

const listed = [
  'txId',
  'walletId',
  'clientId',
  'accountId',
  'chain',
  'transactionType',
  'direction',
  'isHeld',
  'fromAddress',
  'toAddress',
  'tokenSymbol',
  'amount',
  'decimals',
  'status',
  'txHash',
  'externalId',
  'retryOf',
  'createdAt',
  'requestedBy',
  'approvalExpiresAt',
] as const satisfies (keyof TransactionEntity)[];
const detailed = [
  ...listed,
  'isSigned',
  'version',
  'memo',
  'assetId',
  'fee',
  'feeSymbol',
  'feeDecimals',
  'requiredConfirmations',
  'blockNumber',
  'failureCode',
  'failureMessage',
  'approvedBy',
  'approvedAt',
  'screeningNote',
  'updatedAt',
  'endedAt',
] as const satisfies (keyof TransactionEntity)[];

export type ListedRow = Pick<TransactionEntity, (typeof listed)[number]>;
export type DetailedRow = Pick<TransactionEntity, (typeof detailed)[number]>;

const listedColumns = entityColumns(TransactionEntity, 't', listed);
const detailedColumns = entityColumns(TransactionEntity, 't', detailed);
const accountColumns = entityColumns(AccountEntity, 'a', [
  'accountId',
  'walletId',
  'clientId',
  'family',
  'address',
  'addressKey',
  'keyId',
  'keyProtocol',
  'derivationPath',
  'addressIndex',
]);
const walletColumns = entityColumns(WalletEntity, 'w', ['walletId', 'clientId', 'keyId', 'publicKey', 'chainCode']);

const namedColumns = `${accountColumns.select}, ${walletColumns.select}`;
const joinNamed = 'left join accounts a on a.account_id = t.account_id left join wallets w on w.wallet_id = a.wallet_id';

/** Its states, oldest first. */
export type Timeline = { status: string; at: Date }[];

/** Rows of one client, each with its account and wallet. */
export interface Shown<T> {
  rows: T[];
  named: Required<NamedRows>;
}

export const nothingShown: Shown<never> = { rows: [], named: { accounts: [], wallets: [] } };

type Raw = Record<string, unknown>;

function toShown<T>(raws: Raw[], read: (raw: Raw) => T | null): Shown<T> {
  const [accounts, wallets] = [
    new Map<unknown, NamedRows['accounts'][number]>(),
    new Map<unknown, Required<NamedRows>['wallets'][number]>(),
  ];
  const rows: T[] = [];
  for (const raw of raws) {
    const row = read(raw);
    if (row) rows.push(row);
    const accountId = raw['a.accountId'];
    if (accountId === null || accounts.has(accountId)) continue;
    const [account, wallet] = [accountColumns.read(raw), walletColumns.read(raw)];
    if (account) accounts.set(accountId, account);
    if (wallet) wallets.set(wallet.walletId, wallet);
  }
  return { rows, named: { accounts: [...accounts.values()], wallets: [...wallets.values()] } };
}

export const findTimeline = (manager: EntityManager, txId: string): Promise<Timeline> =>
  manager.query<Timeline>('select status, at from transaction_events where tx_id = $1 order by seq', [txId]);

export interface Statement {
  text: string;
  values: unknown[];
}

/** Columns that lists are filtered by. */
type FilterColumn =
  | 'client_id'
  | 'wallet_id'
  | 'account_id'
  | 'chain'
  | 'status'
  | 'tx_hash'
  | 'external_id'
  | 'retry_of'
  | 'from_address'
  | 'to_address';

/** What a list contains. */
export interface ListWhere {
  /** Each column has one of its values; a column without values has none. */
  among: [column: FilterColumn, values: readonly string[]][];
  /** Included. */
  createdAfter?: Date | undefined;
  /** Excluded. */
  createdBefore?: Date | undefined;
  /** Only rows that the list has after this one. */
  after?: string | undefined;
  /** Compared when the rows of a page are read: `among` names something whose rows are all of one client, be it another one. */
  clientId?: string;
}

/**
 * The conditions of one branch for each combination of values, so that each is a range of an index that has the rows in the order of the
 * list. Adds what they compare with to `values`.
 */
function toBranches({ among, createdAfter, createdBefore, after }: ListWhere, values: unknown[]): string[] {
  const place = (value: unknown) => `$${values.push(value)}`;
  const range = [
    ...(createdAfter ? [`created_at >= ${place(createdAfter.toISOString())}::timestamptz`] : []),
    ...(createdBefore ? [`created_at < ${place(createdBefore.toISOString())}::timestamptz`] : []),
    ...(after === undefined ? [] : [`tx_id < ${place(after)}::uuid`]),
  ];
  // each of these decides alone: the order of an index gains nothing
  const isDecided = among.some(([column]) => column === 'tx_hash' || column === 'external_id' || column === 'retry_of');
  const choices = among.map(([column, each]) =>
    isDecided ? [`${column} = any(${place(each)})`] : each.map((value) => `${column} = ${place(value)}`),
  );
  const combined = choices.reduce<string[][]>(
    (made, each) => made.flatMap((one) => each.map((condition) => [...one, condition])),
    [[]],
  );
  return combined.map((conditions) => [...conditions, ...range].join(' and ') || 'true');
}

/**
 * Limit and offset are in the text: the plan depends on them. With `counted`, every row has the total of that list, and an empty page has one
 * row whose other columns are null: to send a second statement costs the API more than the database needs for it. An account and its wallet
 * are in one of the account's rows only. The page is found by ids, which indexes have: list-page.ts says why.
 */
export function listStatement(where: ListWhere, { order, limit, offset }: OrderedPage, counted?: CountedRows): Statement {
  const ofList = counted && toTotal(counted);
  const values: unknown[] = [...(ofList?.values ?? [])];
  const inOrder = (alias = '') => `order by ${alias}tx_id ${order}`;
  const first = `limit ${BigInt(limit) + BigInt(offset)}`;
  const branches = toBranches(where, values).map(
    (branch) => `(select tx_id from transactions where ${branch} ${inOrder()} ${first})`,
  );
  const ofClient = where.clientId === undefined ? '' : ` where p.client_id = $${values.push(where.clientId)}`;
  const text = `with page as (select tx_id from (${branches.join(' union all ')}) b ${inOrder()} limit ${BigInt(limit)} offset ${BigInt(offset)}),
      t as (select p.*, row_number() over (partition by p.account_id) = 1 as is_named from page join transactions p using (tx_id)${ofClient})
    select ${ofList ? 'n.total, ' : ''}${listedColumns.select}, ${namedColumns}
      from ${ofList ? `(${ofList.text}) n left join t on true` : 't'}
      left join accounts a on a.account_id = t.account_id and t.is_named left join wallets w on w.wallet_id = a.wallet_id
     ${inOrder('t.')}`;
  return { text, values };
}

/** How many rows there are, up to `atMost`. */
export function countStatement(where: ListWhere, atMost: number): Statement {
  const values: unknown[] = [];
  const branches = toBranches(where, values).map(
    (branch) => `(select from transactions where ${branch} limit ${BigInt(atMost)})`,
  );
  return {
    text: `select count(*) as total from (select from (${branches.join(' union all ')}) b limit ${BigInt(atMost)}) c`,
    values,
  };
}

export async function findListed(manager: EntityManager, where: ListWhere, page: OrderedPage): Promise<Shown<ListedRow>> {
  const { text, values } = listStatement(where, page);
  return toShown(await manager.query<Raw[]>(text, values), (raw) => listedColumns.read(raw));
}

/** The page and the total of its list, of one moment. */
export async function findCounted(
  manager: EntityManager,
  where: ListWhere,
  page: OrderedPage,
  counted: CountedRows,
): Promise<Shown<ListedRow> & { total: number }> {
  const { text, values } = listStatement(where, page, counted);
  const raws = await manager.query<Raw[]>(text, values);
  return { ...toShown(raws, (raw) => listedColumns.read(raw)), total: Number(raws[0]?.['total'] ?? 0) };
}

export interface ShownDetails extends Shown<DetailedRow> {
  timeline: Timeline;
  /** Of the attempt that a block has; null: none. */
  attemptBlock: bigint | null;
  /** Newest block that the chain's follower has seen; null before the first. */
  headBlock: bigint | null;
}

/** One transaction of a client; without rows where there is none. */
export async function findDetailed(manager: EntityManager, clientId: string, txId: string): Promise<ShownDetails> {
  const raws = await manager.query<Raw[]>(
    `select ${detailedColumns.select}, ${namedColumns}, c.head_block as "headBlock",
            (select block_number from transfer_attempts where tx_id = t.tx_id and block_number is not null limit 1) as "attemptBlock",
            (select json_agg(json_build_array(status, at) order by seq) from transaction_events where tx_id = t.tx_id) as timeline
       from transactions t ${joinNamed} left join chain_cursors c on c.chain = t.chain
      where t.client_id = $1 and t.tx_id = $2`,
    [clientId, txId],
  );
  const block = (name: string) => toBigInt((raws[0]?.[name] ?? null) as string | null);
  const events = (raws[0]?.['timeline'] ?? []) as [status: string, at: string][];
  return {
    ...toShown(raws, (raw) => detailedColumns.read(raw)),
    attemptBlock: block('attemptBlock'),
    headBlock: block('headBlock'),
    timeline: events.map(([status, at]) => ({ status, at: new Date(at) })),
  };
}

const toBigInt = (text: string | null): bigint | null => (text === null ? null : BigInt(text));

import { parseAddressLenient } from '../chains/lenient-address';
import type { GetFamily } from '../chains/family';
import type { ChainRegistry } from '../chains/registry';
import { invalidParameter } from '../platform/errors';
import type { TransactionStatus } from './entity';
import type { ListTransactions } from './schema';
import type { ListWhere } from './shown-rows';

export interface TransactionFilter {
  walletId?: string | undefined;
  accountId?: string | undefined;
  chain?: string | undefined;
  statuses?: readonly TransactionStatus[] | undefined;
  /** One of these. */
  txHashes?: readonly string[] | undefined;
  externalId?: string | undefined;
  retryOf?: string | undefined;
  /** One of these, as they are stored. */
  fromAddresses?: readonly string[] | undefined;
  toAddresses?: readonly string[] | undefined;
  /** Included. */
  createdAfter?: Date | undefined;
  /** Excluded. */
  createdBefore?: Date | undefined;
}

/** Whether the database keeps the total of such a list. */
export const isTotalKept = (filter: TransactionFilter): boolean =>
  Object.entries(filter).every(([name, value]) => value === undefined || totalsBy.includes(name));
const totalsBy = ['walletId', 'accountId', 'chain'];

interface Chains {
  registry: ChainRegistry;
  getFamily: GetFamily;
}

/** @throws GatewayError invalid_parameter for an address of no chain that the list may have. */
export function toFilter(chains: Chains, query: Omit<ListTransactions, 'page' | 'page_size' | 'after'>): TransactionFilter {
  const { tx_hash: hash } = query;
  return {
    walletId: query.wallet_id,
    accountId: query.account_id,
    chain: query.chain,
    statuses: query.status,
    // explorers show some hashes in capitals
    txHashes: hash === undefined ? undefined : [...new Set([hash, hash.toLowerCase()])],
    externalId: query.external_id,
    retryOf: query.retry_of,
    fromAddresses: toStored(chains, query, 'from_address'),
    toAddresses: toStored(chains, query, 'to_address'),
    createdAfter: query.created_after,
    createdBefore: query.created_before,
  };
}

/** The forms in which rows may have an address, in whatever form it is given. */
function toStored(
  { registry, getFamily }: Chains,
  query: Pick<ListTransactions, 'chain' | 'from_address' | 'to_address'>,
  field: 'from_address' | 'to_address',
): string[] | undefined {
  const { chain: name, [field]: text } = query;
  if (text === undefined) return undefined;
  const families = new Set(registry.all.filter((chain) => name === undefined || chain.name === name).map(({ family }) => family));
  const forms = [...families].flatMap((family) => {
    const parsed = parseAddressLenient(getFamily(family), text);
    return parsed ? [parsed.address, parsed.key] : [];
  });
  if (forms.length === 0 && families.size > 0) throw invalidParameter(field, 'is not an address on an enabled chain');
  return [...new Set(forms)];
}

export function toWhere(clientId: string, filter: TransactionFilter): ListWhere {
  const one = (value: string | undefined) => (value === undefined ? undefined : [value]);
  const columns = [
    ['client_id', [clientId]],
    ['wallet_id', one(filter.walletId)],
    ['account_id', one(filter.accountId)],
    ['chain', one(filter.chain)],
    ['status', filter.statuses],
    ['tx_hash', filter.txHashes],
    ['external_id', one(filter.externalId)],
    ['retry_of', one(filter.retryOf)],
    ['from_address', filter.fromAddresses],
    ['to_address', filter.toAddresses],
  ] as const;
  return {
    among: columns.flatMap(([column, values]) => (values ? [[column, values] satisfies ListWhere['among'][number]] : [])),
    createdAfter: filter.createdAfter,
    createdBefore: filter.createdBefore,
  };
}

/** The same of a list whose total is kept, found by the narrowest of what it is filtered by: an index has its ids. */
export function toKeptWhere(clientId: string, { walletId, accountId, chain }: TransactionFilter): ListWhere {
  const subject: ListWhere['among'][number] =
    accountId !== undefined
      ? ['account_id', [accountId]]
      : walletId !== undefined
        ? ['wallet_id', [walletId]]
        : ['client_id', [clientId]];
  return { among: [subject, ...(chain === undefined ? [] : ([['chain', [chain]]] satisfies ListWhere['among']))], clientId };
}

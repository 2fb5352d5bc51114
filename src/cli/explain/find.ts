import type { EntityManager } from 'typeorm';
import { AccountEntity } from '../../accounts/entity';
import { getFamily } from '../../chains/families';
import { parseAddressLenient } from '../../chains/lenient-address';
import { getChains } from '../../chains/registry/data';
import { isUuid } from '../../platform/ids';
import { TransactionEntity } from '../../transactions/entity';

/** What a text names: of several the operator has to choose. */
export interface Found {
  transactions: TransactionEntity[];
  accounts: AccountEntity[];
  /** There are more transactions than were looked for. */
  isCut: boolean;
}

/** Of transactions that one text names. */
const maxCandidates = 20;
const oneMore = maxCandidates + 1;

const allChains = () => (['production', 'sandbox', 'local'] as const).flatMap(getChains);

/**
 * The transactions and accounts that a text names: a tx_id or account_id, the hash of a transaction of a chain (also of an attempt that was
 * never executed), an address, or what a client calls its transfer. An address that belongs to no account names the transactions from it and
 * to it, newest first.
 */
export async function findSubjects(manager: EntityManager, text: string): Promise<Found> {
  const addresses = toAddresses(text);
  const [accounts, byName] = await Promise.all([findAccounts(manager, text, addresses), findNamed(manager, text)]);
  const ids = byName.length > 0 || accounts.length > 0 ? byName : await findOfAddress(manager, addresses);
  const rows = await manager
    .createQueryBuilder(TransactionEntity, 't')
    .where('t.txId = any(:ids::uuid[])', { ids })
    .orderBy('t.txId', 'DESC')
    .getMany();
  return { transactions: rows.slice(0, maxCandidates), accounts, isCut: rows.length > maxCandidates };
}

interface Addresses {
  /** As shown, in every family in which the text is one. */
  shown: string[];
  keys: string[];
}

function toAddresses(text: string): Addresses {
  const families = new Set(allChains().map(({ family }) => family));
  const parsed = [...families].flatMap((name) => parseAddressLenient(getFamily(name), text) ?? []);
  const unique = (texts: string[]) => [...new Set(texts)];
  return { shown: unique(parsed.map(({ address }) => address)), keys: unique(parsed.map(({ key }) => key)) };
}

async function findAccounts(manager: EntityManager, text: string, { keys }: Addresses): Promise<AccountEntity[]> {
  if (isUuid(text)) return manager.findBy(AccountEntity, { accountId: text });
  if (keys.length === 0) return [];
  return manager
    .createQueryBuilder(AccountEntity, 'a')
    .where('a.addressKey = any(:keys)', { keys })
    .orderBy('a.accountId')
    .limit(maxCandidates)
    .getMany();
}

const ids = (rows: { tx_id: string }[]): string[] => rows.map(({ tx_id: txId }) => txId);

/** A hash may be written in any case where it is hexadecimal, and without its prefix. */
const toHashes = (text: string): string[] => {
  const hex = /^(0x)?([0-9a-f]{64})$/i.exec(text)?.[2]?.toLowerCase();
  return hex === undefined ? [text] : [text, hex, `0x${hex}`];
};

async function findNamed(manager: EntityManager, text: string): Promise<string[]> {
  return ids(
    await manager.query(
      // the indexes begin with the client, and with the chain; what a client calls its transfer may look like any of the others
      `select tx_id from (
         select t.tx_id from clients c cross join lateral (
           select tx_id from transactions where client_id = c.client_id and external_id = $1
           union all
           (select tx_id from transactions where client_id = c.client_id and tx_hash = any($2) order by tx_id desc limit ${oneMore})
         ) t
         union
         select tx_id from attempt_ids where chain = any($3) and id = any($2)
         union
         select tx_id from transactions where tx_id = $4
       ) found order by tx_id desc limit ${oneMore}`,
      [text, toHashes(text), allChains().map(({ name }) => name), isUuid(text) ? text : null],
    ),
  );
}

async function findOfAddress(manager: EntityManager, { shown }: Addresses): Promise<string[]> {
  if (shown.length === 0) return [];
  const newest = (column: string) =>
    `(select tx_id from transactions where client_id = c.client_id and ${column} = any($1) order by tx_id desc limit ${oneMore})`;
  return ids(
    await manager.query(
      `select distinct tx_id from clients c cross join lateral (${newest('from_address')} union ${newest('to_address')}) t
        order by tx_id desc limit ${oneMore}`,
      [shown],
    ),
  );
}

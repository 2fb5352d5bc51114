import { In, type EntityManager } from 'typeorm';
import { AccountEntity } from '../accounts/entity';
import type { AddressedAccount, OwnAddresses } from '../accounts/own-addresses';
import type { KeyedWallet } from '../wallets/attested-keys';
import type { TransactionEntity } from './entity';

/** A transaction, as far as it says which address of the gateway it concerns. */
export type AddressedTransaction = Pick<
  TransactionEntity,
  'txId' | 'clientId' | 'accountId' | 'direction' | 'isHeld' | 'fromAddress' | 'toAddress'
>;

/** The rows that transactions name. `wallets`: of the accounts, where they have been read too. */
export interface NamedRows {
  accounts: AddressedAccount[];
  wallets?: KeyedWallet[];
}

/** What is sent and holds nothing of the client is a payment between others. */
const isOfOthers = ({ direction, isHeld }: AddressedTransaction): boolean => direction === 'out' && !isHeld;

/**
 * Ids of the transactions whose own address, the sender of a transfer or the recipient of a deposit, is one that the nodes attest. The
 * others raise an alarm.
 */
export async function withOwnAddress(
  manager: EntityManager,
  addresses: OwnAddresses,
  transactions: AddressedTransaction[],
): Promise<Set<string>> {
  const ids = [...new Set(transactions.flatMap(({ accountId }) => accountId ?? []))];
  const accounts = ids.length > 0 ? await manager.findBy(AccountEntity, { accountId: In(ids) }) : [];
  return withOwnAddressAmong(manager, addresses, transactions, { accounts });
}

/** The same with rows that were read together with the transactions: each account and wallet once. */
export async function withOwnAddressAmong(
  manager: EntityManager,
  addresses: OwnAddresses,
  transactions: AddressedTransaction[],
  { accounts, wallets }: NamedRows,
): Promise<Set<string>> {
  const own = await addresses.verified(manager, accounts, wallets);
  const byId = new Map(accounts.filter(({ accountId }) => own.has(accountId)).map((account) => [account.accountId, account]));
  const known = new Set(accounts.map(({ accountId }) => accountId));
  const shown = new Set<string>();
  for (const tx of transactions) {
    if (isOfOthers(tx)) {
      shown.add(tx.txId);
      continue;
    }
    const account = byId.get(tx.accountId ?? '');
    const address = tx.direction === 'in' ? tx.toAddress : tx.fromAddress;
    if (!account) {
      // an account that was found has raised its alarm
      if (!known.has(tx.accountId ?? '')) addresses.alarmOfTransaction(tx.txId);
      continue;
    }
    // an address of another client is attested too
    if (account.address === address && account.clientId === tx.clientId) shown.add(tx.txId);
    else addresses.alarm(account);
  }
  return shown;
}

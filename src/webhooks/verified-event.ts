import type { DataSource } from 'typeorm';
import type { OwnAddresses } from '../accounts/own-addresses';
import { TransactionEntity } from '../transactions/entity';
import { withOwnAddress } from '../transactions/shown-addresses';
import { transactionTypes } from '../transactions/types';
import type { AttestedKeys } from '../wallets/attested-keys';
import { WalletEntity } from '../wallets/entity';
import { isOfTransaction, type StoredEvent, type TransactionSnapshot } from './events';

/** What the signing nodes attest, by which the worker verifies what it sends. */
export interface Attested {
  keys: AttestedKeys;
  addresses: OwnAddresses;
}

/**
 * Whether the signing nodes attest what an event shows: the gateway's own address in that of a transaction, the key in that of a wallet.
 * What differs raises an alarm. Other events show neither.
 * @param clientId owner of the endpoint that the event is sent to
 */
export function isAttested(
  database: DataSource,
  attested: Attested,
  clientId: string,
  { kind, snapshot }: StoredEvent,
): Promise<boolean> {
  if (isOfTransaction(kind)) return showsOwnAddress(database, attested, clientId, snapshot as unknown as TransactionSnapshot);
  return kind === 'wallet.active' ? hasAttestedKey(database, attested, clientId, snapshot) : Promise.resolve(true);
}

async function showsOwnAddress(
  { manager }: DataSource,
  { addresses }: Attested,
  clientId: string,
  shown: TransactionSnapshot,
): Promise<boolean> {
  // an event in the name of another client than the one that gets it shows nobody's address
  if (shown.client_id !== clientId) return false;
  const { direction, isHeld } = transactionTypes[shown.transaction_type];
  const tx = await manager.findOne(TransactionEntity, { select: { accountId: true }, where: { txId: shown.tx_id } });
  const fields = {
    txId: shown.tx_id,
    clientId,
    accountId: tx?.accountId ?? null,
    direction,
    isHeld,
    fromAddress: shown.from_address,
    toAddress: shown.to_address,
  };
  return (await withOwnAddress(manager, addresses, [fields])).has(shown.tx_id);
}

async function hasAttestedKey(
  { manager }: DataSource,
  { keys }: Attested,
  clientId: string,
  { wallet_id: walletId }: Record<string, unknown>,
): Promise<boolean> {
  const wallets = await manager.findBy(WalletEntity, { walletId: String(walletId), clientId });
  return (await keys.find(manager, wallets)).size > 0;
}

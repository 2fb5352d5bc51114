import type { DataSource, EntityManager } from 'typeorm';
import type { WalletKey } from '../messages/key-generation';
import { assertRoomForKeyOrder } from '../orders/order-limits';
import type { Orders } from '../orders/orders';
import { inTransaction } from '../platform/database';
import { GatewayError, notFound } from '../platform/errors';
import type { WalletEntity } from './entity';
import { isOfWallet } from './pooled-keys';
import { findWalletForUpdate } from './lock';

interface KeyOrders {
  database: DataSource;
  orders: Orders;
}

/** Key generations that a wallet may take. */
const maxAttempts = 1_000_000;

/**
 * To generate a key and to test it.
 * @throws GatewayError invalid_parameter for a key id that is not of this wallet; as findWithoutKey and assertRoomForKeyOrder.
 */
export async function orderKeyGeneration({ database, orders }: KeyOrders, input: WalletKey): Promise<{ order: string }> {
  const claims = await inTransaction(database, async (manager) => {
    const { clientId } = await findWithoutKey(manager, input);
    if (!isOwnAttempt(input)) throw notOfWallet();
    await assertRoomForKeyOrder(manager, { ...input, ownerId: input.walletId, kind: 'generate_key' });
    return orders.issue(manager, { kind: 'generate_key', key_id: input.keyId, client_id: clientId });
  });
  return { order: await orders.sign(claims) };
}

/**
 * To tie a key to the wallet and its client: one that was generated for it, or one of the pool that it has taken. Also the key that the wallet
 * has already: a node whose database was restored may have lost whose it is.
 * @throws GatewayError as orderKeyGeneration; business_error when the wallet has another key.
 */
export async function orderKeyBinding({ database, orders }: KeyOrders, input: WalletKey): Promise<{ order: string }> {
  const claims = await inTransaction(database, async (manager) => {
    const { walletId, clientId } = await findWithoutOtherKey(manager, input);
    if (!isOwnAttempt(input) && !(await isOfWallet(manager, input))) throw notOfWallet();
    await assertRoomForKeyOrder(manager, { keyId: input.keyId, ownerId: ownerOf(input.keyId), kind: 'bind_key' });
    return orders.issue(manager, { kind: 'bind_key', key_id: input.keyId, wallet_id: walletId, client_id: clientId });
  });
  return { order: await orders.sign(claims) };
}

/**
 * The wallet that the key is for, locked.
 * @throws GatewayError not_found; business_error when it has a key already.
 */
async function findWithoutKey(manager: EntityManager, { walletId }: WalletKey): Promise<WalletEntity> {
  const wallet = await lockWallet(manager, walletId);
  if (wallet.keyStatus === 'ACTIVE') throw hasKey();
  return wallet;
}

/** The same, but the key may be the one that it has. */
async function findWithoutOtherKey(manager: EntityManager, { walletId, keyId }: WalletKey): Promise<WalletEntity> {
  const wallet = await lockWallet(manager, walletId);
  if (wallet.keyStatus === 'ACTIVE' && wallet.keyId !== keyId) throw hasKey();
  return wallet;
}

async function lockWallet(manager: EntityManager, walletId: string): Promise<WalletEntity> {
  const wallet = await findWalletForUpdate(manager, { walletId });
  if (!wallet) throw notFound('wallet');
  return wallet;
}

const hasKey = (): GatewayError => new GatewayError('business_error', 'The wallet has a key already');

const isOwnAttempt = ({ walletId, keyId }: WalletKey): boolean => isAttempt(keyId, walletId, maxAttempts);
/** What orders for the key are counted by: the id without the attempt. */
const ownerOf = (keyId: string): string => keyId.slice(0, keyId.lastIndexOf('.'));
const notOfWallet = (): GatewayError => new GatewayError('invalid_parameter', 'keyId: it is not of this wallet');

/** `<ownerId>.<attempt>`, of one of the first `most` attempts. */
export function isAttempt(keyId: string, ownerId: string, most: number): boolean {
  const attempt = Number(keyId.slice(ownerId.length + 1));
  return keyId === `${ownerId}.${attempt}` && Number.isInteger(attempt) && attempt >= 1 && attempt <= most;
}

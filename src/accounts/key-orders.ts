import type { DataSource, EntityManager } from 'typeorm';
import type { GetFamily } from '../chains/family';
import { hasChildren } from '../chains/key-protocols';
import type { ChainFamily, KeyProtocol } from '../chains/types';
import type { AccountKey } from '../messages/key-generation';
import { assertRoomForKeyOrder } from '../orders/order-limits';
import type { Orders } from '../orders/orders';
import { inTransaction } from '../platform/database';
import { GatewayError, notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import { isAttempt } from '../wallets/key-orders';

interface KeyOrders {
  database: DataSource;
  orders: Orders;
  getFamily: GetFamily;
}

/** A client waits for this account; locked. */
interface KeyRequest {
  wallet_id: string;
  client_id: string;
  family: ChainFamily;
  attempts: number;
  key_id: string | null;
  wallet_is_active: boolean;
  account_exists: boolean;
}

/**
 * To generate the key of an account and to test it.
 * @throws GatewayError as findRequest and assertRoomForKeyOrder; business_error once the binding of a key was ordered.
 */
export async function orderAccountKey(deps: KeyOrders, { accountId, keyId }: AccountKey): Promise<{ order: string }> {
  const claims = await inTransaction(deps.database, async (manager) => {
    const { client_id: clientId, key_id: chosen, protocol } = await findRequest(manager, deps.getFamily, { accountId, keyId });
    if (chosen !== null) throw new GatewayError('business_error', `The account is to get the key ${chosen}`);
    await assertRoomForKeyOrder(manager, { ownerId: accountId, keyId, kind: 'generate_key' });
    return deps.orders.issue(manager, { kind: 'generate_key', key_id: keyId, client_id: clientId, protocol });
  });
  return { order: await deps.orders.sign(claims) };
}

/**
 * To tie a key to the account, its wallet and client. The first such order decides which key is the account's: a node may have bound it.
 * @throws GatewayError as findRequest and assertRoomForKeyOrder; business_error once the binding of another key was ordered.
 */
export async function orderAccountKeyBinding(deps: KeyOrders, { accountId, keyId }: AccountKey): Promise<{ order: string }> {
  const claims = await inTransaction(deps.database, async (manager) => {
    const request = await findRequest(manager, deps.getFamily, { accountId, keyId });
    const { wallet_id: walletId, client_id: clientId, key_id: chosen } = request;
    if ((chosen ?? keyId) !== keyId) throw new GatewayError('business_error', `The account is to get the key ${chosen}`);
    if (chosen === null)
      await manager.query('update account_key_requests set key_id = $2 where account_id = $1', [accountId, keyId]);
    await assertRoomForKeyOrder(manager, { ownerId: accountId, keyId, kind: 'bind_key' });
    const owner = { wallet_id: walletId, client_id: clientId, account_id: accountId };
    return deps.orders.issue(manager, { kind: 'bind_key', key_id: keyId, ...owner });
  });
  return { order: await deps.orders.sign(claims) };
}

/**
 * What a client waits for, locked.
 * @throws GatewayError not_found when no client has asked for the account; invalid_parameter for a key id that is not of one of its tries,
 * or an account whose key is its wallet's; business_error when the account is there, or its wallet is not an active one of the client.
 */
async function findRequest(
  manager: EntityManager,
  getFamily: GetFamily,
  { accountId, keyId }: AccountKey,
): Promise<KeyRequest & { protocol: KeyProtocol }> {
  if (!isUuid(accountId)) throw notFound('account');
  const [request] = await manager.query<KeyRequest[]>(
    `select r.wallet_id, r.client_id, r.family, r.attempts, r.key_id,
            exists (select from wallets w where w.wallet_id = r.wallet_id and w.client_id = r.client_id and w.status = 'ACTIVE')
              as wallet_is_active,
            exists (select from accounts a where a.account_id = r.account_id) as account_exists
       from account_key_requests r where r.account_id = $1 for no key update of r`,
    [accountId],
  );
  if (!request) throw notFound('account');
  const protocol = getFamily(request.family).keyProtocol;
  if (hasChildren(protocol)) throw new GatewayError('invalid_parameter', 'accountId: its key is the one of its wallet');
  if (!isAttempt(keyId, accountId, request.attempts))
    throw new GatewayError('invalid_parameter', 'keyId: it is not of this account');
  if (request.account_exists) throw new GatewayError('business_error', 'The account has a key already');
  if (!request.wallet_is_active) throw new GatewayError('business_error', 'The wallet is not active');
  return { ...request, protocol };
}

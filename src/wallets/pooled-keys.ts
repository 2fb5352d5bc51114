import type { DataSource, EntityManager } from 'typeorm';
import type { PooledKey } from '../messages/key-generation';
import type { Orders } from '../orders/orders';
import { assertOrdersCompared } from '../orders/reconcile-required';
import { inTransaction } from '../platform/database';
import { GatewayError, notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import { findWalletForUpdate } from './lock';

interface PooledKeysOptions {
  database: DataSource;
  orders: Orders;
  /** Keys that wait for wallets at most; 0: none is ordered, and none taken. */
  keyPoolSize: number;
}

/** Orders within an hour, whatever becomes of the keys: a key takes one, and 11 seconds of processor time. */
const maxOrdersPerHour = 400;
const idForm = /^pool-([0-9a-f-]{36})\.1$/;

/**
 * To generate a key of no client, and to test it; null when enough are there.
 * @throws GatewayError invalid_parameter for an id of another form; rate_limited after 400 orders in an hour; what Orders.issue throws.
 */
export async function orderPooledKey(
  { database, orders, keyPoolSize }: PooledKeysOptions,
  { keyId }: PooledKey,
): Promise<{ order: string } | null> {
  if (!isUuid(idForm.exec(keyId)?.[1] ?? '')) throw new GatewayError('invalid_parameter', 'keyId: it is not one of the pool');
  const claims = await inTransaction(database, async (manager) => {
    // one after the other: orders are counted
    await manager.query(`select pg_advisory_xact_lock(hashtext('pooled_keys'))`);
    if (!(await isWanted(manager, keyPoolSize))) return null;
    await assertRoomThisHour(manager);
    return orders.issue(manager, { kind: 'generate_key', key_id: keyId, client_id: null });
  });
  return claims && { order: await orders.sign(claims) };
}

/** A wallet may take it from now on. No effect when it is offered already. @throws GatewayError not_found for a key that was not ordered. */
export async function offerPooledKey({ database }: Pick<PooledKeysOptions, 'database'>, { keyId }: PooledKey): Promise<void> {
  const ordered = await database.query<unknown[]>(
    `select 1 from orders where kind = 'generate_key' and claims ->> 'key_id' = $1 limit 1`,
    [keyId],
  );
  if (ordered.length === 0) throw notFound('key');
  await database.query('insert into pooled_keys (key_id) values ($1) on conflict do nothing', [keyId]);
}

/**
 * The key that this wallet has taken, or takes now: the oldest free one; null when none is free, and always while the pool is switched off.
 * The caller may repeat it, however often and whatever has failed in between: it is the same key.
 * @throws GatewayError not_found; business_error when the wallet has a key already; reconcile_required while orders may be missing, by which
 * a key would not be free.
 */
export async function takePooledKey(
  { database, keyPoolSize }: Pick<PooledKeysOptions, 'database' | 'keyPoolSize'>,
  { walletId }: { walletId: string },
): Promise<PooledKey | null> {
  if (keyPoolSize === 0) return null;
  return inTransaction(database, async (manager) => {
    await assertOrdersCompared(manager);
    const wallet = await findWalletForUpdate(manager, { walletId });
    if (!wallet) throw notFound('wallet');
    if (wallet.keyStatus === 'ACTIVE') throw new GatewayError('business_error', 'The wallet has a key already');
    const [own] = await manager.query<{ key_id: string }[]>('select key_id from pooled_keys where wallet_id = $1', [walletId]);
    if (own) return { keyId: own.key_id };
    const [[taken]] = await manager.query<[{ key_id: string }[], number]>(
      `update pooled_keys set wallet_id = $1, taken_at = clock_timestamp()
        where key_id = (
          select k.key_id from pooled_keys k where k.wallet_id is null and k.key_id in (select key_id from free_pooled_keys)
           order by k.offered_at limit 1 for update of k skip locked)
       returning key_id`,
      [walletId],
    );
    return taken ? { keyId: taken.key_id } : null;
  });
}

/**
 * Whether the key may be bound to the wallet: the wallet has taken it, and no other was ever ordered for it. After a restore both can be: an
 * order that was taken back from the nodes names the wallet that they have bound it to.
 */
export async function isOfWallet(
  manager: EntityManager,
  { walletId, keyId }: { walletId: string; keyId: string },
): Promise<boolean> {
  const rows = await manager.query<unknown[]>(
    `select 1 from pooled_keys k where k.key_id = $1 and k.wallet_id = $2 and not exists (
       select from orders o
        where o.kind = 'bind_key' and o.claims ->> 'key_id' = k.key_id and o.claims ->> 'wallet_id' <> k.wallet_id::text)`,
    [keyId, walletId],
  );
  return rows.length > 0;
}

/** Fewer keys are free than there may be. */
export async function isWanted(manager: EntityManager, keyPoolSize: number): Promise<boolean> {
  const [found] = await manager.query<{ wanted: boolean }[]>(
    `select count(*) < $1::int as wanted from (select from free_pooled_keys limit $1::int) free`,
    [keyPoolSize],
  );
  return found?.wanted ?? false;
}

async function assertRoomThisHour(manager: EntityManager): Promise<void> {
  const [issued] = await manager.query<{ count: number }[]>(
    `select count(*)::int as count from orders
      where kind = 'generate_key' and claims ->> 'key_id' like 'pool-%' and issued_at > clock_timestamp() - interval '1 hour'`,
  );
  if ((issued?.count ?? 0) >= maxOrdersPerHour)
    throw new GatewayError('rate_limited', `No more than ${maxOrdersPerHour} keys are ordered for the pool in an hour`);
}

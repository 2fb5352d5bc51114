import type { DataSource, EntityManager } from 'typeorm';
import type { KeyAhead } from '../messages/key-generation';
import { assertRoomForKeyOrder } from '../orders/order-limits';
import type { Orders } from '../orders/orders';
import { inTransaction } from '../platform/database';
import { GatewayError, notFound } from '../platform/errors';
import { isUuid } from '../platform/ids';
import { findWalletForUpdate } from './lock';

interface KeysAheadOptions {
  database: DataSource;
  orders: Orders;
  /** Keys that may be offered at the same time. */
  keyPoolSize: number;
}

/** Keys ordered ahead within an hour, whatever becomes of them: a generation takes 11 seconds of processor time. */
const maxPerHour = 400;
const idForm = /^ahead-([0-9a-f-]{36})\.1$/;

/**
 * To generate a key of no client, and to test it; null when enough are offered, or wallets wait for keys of their own, which go first.
 * @throws GatewayError invalid_parameter for an id of another form; business_error when the key is offered already; rate_limited after
 * 400 keys in an hour; what assertRoomForKeyOrder throws.
 */
export async function orderKeyAhead(
  { database, orders, keyPoolSize }: KeysAheadOptions,
  { keyId }: KeyAhead,
): Promise<{ order: string } | null> {
  if (!isUuid(idForm.exec(keyId)?.[1] ?? '')) throw new GatewayError('invalid_parameter', 'keyId: it is not one of a key ahead');
  const claims = await inTransaction(database, async (manager) => {
    // one after the other: keys are counted, and their orders
    await manager.query(`select pg_advisory_xact_lock(hashtext('keys_ahead'))`);
    const [known] = await manager.query<{ offered: boolean }[]>(
      'select offered_at is not null as offered from keys_ahead where key_id = $1',
      [keyId],
    );
    if (known?.offered) throw new GatewayError('business_error', 'The key is offered already');
    if (!known) {
      if (!(await isWanted(manager, keyPoolSize))) return null;
      await assertRoomThisHour(manager);
      await manager.query('insert into keys_ahead (key_id) values ($1)', [keyId]);
    }
    await assertRoomForKeyOrder(manager, { ownerId: keyId.slice(0, -'.1'.length), keyId, kind: 'generate_key' });
    return orders.issue(manager, { kind: 'generate_key', key_id: keyId, client_id: null });
  });
  return claims && { order: await orders.sign(claims) };
}

/** A wallet may take it from now on. No effect when it is offered already. @throws GatewayError not_found for a key that was not ordered. */
export async function offerKeyAhead({ database }: Pick<KeysAheadOptions, 'database'>, { keyId }: KeyAhead): Promise<void> {
  const [rows] = await database.query<[unknown[], number]>(
    `update keys_ahead set offered_at = coalesce(offered_at, clock_timestamp()) where key_id = $1 returning key_id`,
    [keyId],
  );
  if (rows.length === 0) throw notFound('key');
}

/**
 * The key that this wallet has taken, or takes now: the oldest that no other has, and that no node can have bound. The caller may repeat
 * it, however often and whatever has failed in between: it is the same key.
 * @throws GatewayError not_found; business_error when the wallet has a key already.
 */
export function takeKeyAhead(
  { database }: Pick<KeysAheadOptions, 'database'>,
  { walletId }: { walletId: string },
): Promise<KeyAhead | null> {
  return inTransaction(database, async (manager) => {
    const wallet = await findWalletForUpdate(manager, { walletId });
    if (!wallet) throw notFound('wallet');
    if (wallet.keyStatus === 'ACTIVE') throw new GatewayError('business_error', 'The wallet has a key already');
    const [own] = await manager.query<{ key_id: string }[]>('select key_id from keys_ahead where wallet_id = $1', [walletId]);
    if (own) return { keyId: own.key_id };
    // orders are taken back from the nodes after a restore, and rows of this table are not
    const [[taken]] = await manager.query<[{ key_id: string }[], number]>(
      `update keys_ahead set wallet_id = $1, taken_at = clock_timestamp()
        where key_id = (
          select k.key_id from keys_ahead k
           where k.offered_at is not null and k.wallet_id is null
             and not exists (select from orders o where o.kind = 'bind_key' and o.claims ->> 'key_id' = k.key_id)
           order by k.offered_at limit 1 for update skip locked)
       returning key_id`,
      [walletId],
    );
    return taken ? { keyId: taken.key_id } : null;
  });
}

/** Whether the wallet has taken this key. */
export async function isTakenBy(
  manager: EntityManager,
  { walletId, keyId }: { walletId: string; keyId: string },
): Promise<boolean> {
  const rows = await manager.query<unknown[]>('select 1 from keys_ahead where key_id = $1 and wallet_id = $2', [keyId, walletId]);
  return rows.length > 0;
}

/** Fewer keys are offered than there may be, and no wallet waits for one. */
export async function isWanted(manager: EntityManager, keyPoolSize: number): Promise<boolean> {
  const [found] = await manager.query<{ wanted: boolean }[]>(
    `select (select count(*) from (select from keys_ahead where offered_at is not null and wallet_id is null limit $1::int) offered) < $1::int
        and not exists (select from wallets where key_status = 'GENERATING') as wanted`,
    [keyPoolSize],
  );
  return found?.wanted ?? false;
}

async function assertRoomThisHour(manager: EntityManager): Promise<void> {
  const [ordered] = await manager.query<{ count: number }[]>(
    `select count(*)::int as count from keys_ahead where ordered_at > clock_timestamp() - interval '1 hour'`,
  );
  if ((ordered?.count ?? 0) >= maxPerHour)
    throw new GatewayError('rate_limited', `No more than ${maxPerHour} keys are ordered ahead in an hour`);
}

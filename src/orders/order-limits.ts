import type { EntityManager } from 'typeorm';
import { GatewayError } from '../platform/errors';

/**
 * Orders of one kind for one key: a generation takes one, its test signatures and its binding one for every try at every node. Test
 * signatures are tried 20 times for two pairs, binding 20 times for three nodes.
 */
const maxPerKey = 100;
/** Orders for all keys of one wallet, or for one account, within an hour. A generation that fails at once is tried again every 30 seconds. */
const maxPerOwnerPerHour = 500;
/** Orders for one page of a client's blacklist within an hour: three nodes, each asks again once in 30 seconds after a refusal. */
const maxPerPagePerHour = 400;

/**
 * Call it under the lock of the owner, the wallet or the account that the key ids begin with, before an order for one of its keys is issued.
 * @throws GatewayError order_refused when the key had enough orders and is to be dropped; rate_limited when the owner had.
 */
export async function assertRoomForKeyOrder(
  manager: EntityManager,
  { ownerId, keyId, kind }: { ownerId: string; keyId: string; kind: 'generate_key' | 'bind_key' },
): Promise<void> {
  const [issued] = await manager.query<{ key: number; owner: number }[]>(
    `select (count(*) filter (where claims ->> 'key_id' = $2 and kind = $3))::int as key,
            (count(*) filter (where issued_at > clock_timestamp() - interval '1 hour'))::int as owner
       from orders where kind in ('generate_key', 'bind_key') and claims ->> 'key_id' like $1
         and (claims ->> 'key_id' = $2 or issued_at > clock_timestamp() - interval '1 hour')`,
    [`${ownerId}.%`, keyId, kind],
  );
  if ((issued?.key ?? 0) >= maxPerKey)
    throw new GatewayError('order_refused', `key_id: ${kind} was ordered ${maxPerKey} times for this key, and is not again`);
  if ((issued?.owner ?? 0) >= maxPerOwnerPerHour)
    throw new GatewayError(
      'rate_limited',
      `No more than ${maxPerOwnerPerHour} orders an hour for the keys of a wallet or an account`,
    );
}

/** @throws GatewayError rate_limited when there were enough orders for the page that begins after this version. */
export async function assertRoomForPageOrder(
  manager: EntityManager,
  { clientId, after }: { clientId: string; after: number },
): Promise<void> {
  const [issued] = await manager.query<{ page: number }[]>(
    `select count(*)::int as page from orders
      where kind = 'blacklist_page' and claims ->> 'client_id' = $1 and (claims ->> 'after')::bigint = $2
        and issued_at > clock_timestamp() - interval '1 hour'`,
    [clientId, after],
  );
  if ((issued?.page ?? 0) >= maxPerPagePerHour)
    throw new GatewayError('rate_limited', `No more than ${maxPerPagePerHour} orders an hour for a page of a blacklist`);
}

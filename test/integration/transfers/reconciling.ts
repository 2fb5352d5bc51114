import type { DataSource } from 'typeorm';
import { getFamily } from '../../../src/chains/families';
import { reconcile, type Reconciliation, type ReconcileOptions } from '../../../src/cli/reconcile-operations';
import type { OrderClaims } from '../../../src/messages/order';
import { OrderKeys } from '../../../src/mpc/order-keys';
import type { SeenOrder } from '../../../src/mpc/seen-orders';
import type { AskForOrders } from '../../../src/orders/node-orders';
import { getSignedType, typeOfOrder } from '../../../src/signed-types';
import { claimsOf, deployment, orderKeys } from '../../orders';
import { registry } from '../ledger/fixture';

type Given = Pick<ReconcileOptions, 'start' | 'countUsed'> & Partial<ReconcileOptions>;

/** `gateway reconcile` of a restored database, where nodes 1 and 2 show these orders and node 3 is down. */
export async function reconcileShown(database: DataSource, seen: readonly SeenOrder[], options: Given): Promise<Reconciliation> {
  const answer = (after: number) => {
    const orders = seen.filter(({ compact }) => claimsOf<OrderClaims>(compact).seq > after);
    return { newest: seen.at(-1)?.compact ?? null, orders, is_complete: true };
  };
  const ask: AskForOrders = (after) =>
    Promise.resolve([
      { node: 1, answer: answer(after[1] ?? Infinity) },
      { node: 2, answer: answer(after[1] ?? Infinity) },
      { node: 3, problem: 'no response in time' },
    ]);
  const keys = await OrderKeys.create(orderKeys, 'ORDER_KEYS');
  return reconcile({
    ...{ database, ask, keys, deployment, registry, getFamily, getSignedType, typeOfOrder },
    ...{ apply: false, acceptMissing: [], twoNodes: true, coverEveryMs: 10 },
    ...options,
  });
}

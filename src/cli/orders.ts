import type { Command } from 'commander';
import { OrderKeys } from '../mpc/order-keys';
import { readConfig } from '../platform/config';
import { showOrders } from './order-operations';
import { print, printRows } from './output';
import type { Run } from './run';
import type { Session } from './session';
import { findSignedOrders } from './signed-orders';

/** orders */
export function addOrderCommands(program: Command, run: Run): void {
  program
    .command('orders')
    .description('what the authoriser has permitted the signing nodes to do')
    .command('show <tx-id>')
    .description("show a transfer's orders, oldest first, and whether a key of ORDER_KEYS has signed them")
    .action(run(show));
}

async function show({ database, temporal, json }: Session, txId: string): Promise<void> {
  const { ORDER_KEYS: jwks } = readConfig(['ORDER_KEYS']);
  const keys = jwks ? await OrderKeys.create(jwks, 'ORDER_KEYS') : null;
  const orders = await showOrders({ database, keys, findSigned: (id) => findSignedOrders(temporal, id) }, txId);
  if (json) return print(JSON.stringify({ tx_id: txId, orders }, null, 2));
  printRows(
    orders.map(({ digests, ...order }) => ({ ...order, digests: digests.join(' ') })),
    false,
  );
}

import type { Command } from 'commander';
import { type NodeKeys, readNodeKeys } from '../mpc/identity';
import { OrderKeys } from '../mpc/order-keys';
import { asksForOrders } from '../orders/node-orders';
import { readConfig, readVariable } from '../platform/config';
import { findKeptOrders } from './kept-orders';
import { type NodeReport, readNodeJournals } from './node-journals';
import { joinJournals, type JoinedJournals } from './order-journals';
import { type OrderSources, showOrders } from './order-operations';
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
    .description(
      "show a transfer's orders, oldest first, whether a key of ORDER_KEYS has signed them, and what each node has on record about " +
        'them (with the certificates in MPC_NODE_PEER_CERTS)',
    )
    .action(run(show));
}

async function show({ database, temporal, json }: Session, txId: string): Promise<void> {
  const { ORDER_KEYS: jwks } = readConfig(['ORDER_KEYS']);
  const keys = jwks ? await OrderKeys.create(jwks, 'ORDER_KEYS') : null;
  const nodeKeys = readCertificates();
  const sources: OrderSources = {
    database,
    keys,
    findSigned: (id) => findSignedOrders(temporal, id),
    findKept: async (wanted) =>
      nodeKeys ? findKeptOrders(asksForOrders(temporal, nodeKeys), keys, wanted) : new Map<string, string>(),
  };
  const [reports, nodes] = await Promise.all([
    showOrders(sources, txId),
    nodeKeys ? readNodeJournals(temporal, txId, nodeKeys) : null,
  ]);
  const joined = joinJournals(
    reports,
    (nodes ?? []).flatMap(({ journal }) => journal ?? []),
  );
  if (json) print(JSON.stringify({ tx_id: txId, ...joined, nodes: nodes?.map(toNodeRow) ?? null }, null, 2));
  else printTables(joined, nodes);
}

/** null when they are not configured: what a node says cannot be verified then, so it is not asked. */
function readCertificates(): NodeKeys | null {
  const certificates = readVariable('MPC_NODE_PEER_CERTS', { secret: true }, process.env);
  const former = readVariable('MPC_NODE_FORMER_CERTS', { secret: true }, process.env);
  return certificates === undefined ? null : readNodeKeys(certificates, former);
}

const toNodeRow = ({ node, state, detail }: NodeReport) => ({ node, state, detail });

function printTables({ orders, without_order: withoutOrder }: JoinedJournals, nodes: NodeReport[] | null): void {
  printRows(
    orders.map(({ digests, journal: _, ...order }) => ({ ...order, digests: digests.join(' ') })),
    false,
  );
  if (!nodes) return print('\nMPC_NODE_PEER_CERTS is not set: the nodes are not asked for their journals');
  print('\nNodes');
  printRows(nodes.map(toNodeRow), false);
  print('\nJournals');
  printRows(
    orders.flatMap(({ seq, journal }) => journal.map((record) => ({ seq, ...record }))),
    false,
  );
  if (withoutOrder.length === 0) return;
  print('\nRecords of orders that the database does not have');
  printRows(
    withoutOrder.map((record) => ({ ...record })),
    false,
  );
}

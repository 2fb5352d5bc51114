import type { Command } from 'commander';
import { readChainClient } from '../chains/clients';
import { getFamily } from '../chains/families';
import { getSignedType, typeOfOrder } from '../signed-types';
import { loadRegistry } from '../chains/registry';
import { entities } from '../entities';
import { readNodeKeys } from '../mpc/identity';
import { OrderKeys } from '../mpc/order-keys';
import { describeNodes } from '../orders/missing-orders';
import { asksForOrders } from '../orders/node-orders';
import { ConfigError, readConfig } from '../platform/config';
import { createDatabase } from '../platform/database';
import { createTemporalClient } from '../platform/temporal';
import { startTransferWorkflow } from '../transfers/start/workflows';
import { confirm, type Confirmation } from './confirmation';
import { print, printRows } from './output';
import { ownerUrl } from './owner-url';
import { reconcile, type Reconciliation } from './reconcile-operations';
import { CommandFailed } from './session';

interface Options extends Pick<Confirmation, 'yes'> {
  apply?: boolean;
  acceptMissing?: true | string[];
  twoNodes?: boolean;
}

/** reconcile: as the owner of the schema, since no process may write what was accepted and ordered. */
export function addReconcileCommand(program: Command): void {
  program
    .command('reconcile')
    .description(
      'compare the database with the orders that the signing nodes have acted on, and show what would be rebuilt after a restored ' +
        'backup; as the owner of the schema (DATABASE_OWNER_URL), with ORDER_KEYS and MPC_NODE_PEER_CERTS, and CHAIN_<NAME>_RPC_URLS ' +
        'for what is accepted as missing',
    )
    .option('--apply', 'rebuild it, start the workflows, and open the gateway when nothing is missing')
    .option(
      '--accept-missing [subjects...]',
      'with --apply: open the gateway although something cannot be rebuilt: these subjects; without any, all that wait for nothing',
    )
    .option('--yes', 'with --accept-missing: do not ask; needed where there is no terminal')
    .option('--two-nodes', 'go on although one node does not answer: an order that it alone can show stays missing')
    .action(async (options: Options) => {
      await run(program.opts<{ json?: boolean }>().json ?? false, options);
    });
}

async function run(json: boolean, options: Options): Promise<void> {
  const { apply = false, acceptMissing: accepted = [], twoNodes = false } = options;
  if (apply && options.acceptMissing !== undefined)
    await confirm('open the gateway although transactions that were ordered are missing', options);
  const config = readConfig(['GATEWAY_ENV', 'CHAINS', 'ORDER_KEYS', 'DEPLOYMENT_ID', 'MPC_NODE_PEER_CERTS']);
  if (!config.ORDER_KEYS) throw new ConfigError('ORDER_KEYS is missing: what the nodes show cannot be verified');
  const acceptMissing = accepted === true ? 'stuck' : accepted;
  const keys = await OrderKeys.create(config.ORDER_KEYS, 'ORDER_KEYS');
  const database = await createDatabase({
    url: ownerUrl(),
    poolSize: 3,
    applicationName: 'gateway-reconcile',
    entities,
  }).initialize();
  const temporal = createTemporalClient();
  try {
    const result = await reconcile({
      ...{ database, apply, acceptMissing, twoNodes, keys, getFamily, getSignedType, typeOfOrder },
      ask: asksForOrders(temporal, readNodeKeys(config.MPC_NODE_PEER_CERTS)),
      start: (transfer) => startTransferWorkflow(temporal, transfer, 'again'),
      deployment: config.DEPLOYMENT_ID,
      countUsed: (chain, address) => readChainClient(chain).usedOrdinals(address),
      registry: loadRegistry(config.GATEWAY_ENV, config.CHAINS.split(',')),
    });
    show(result, json, apply);
  } finally {
    await database.destroy();
    await temporal.connection.close();
  }
}

function show({ nodes, rows, started, isOpen }: Reconciliation, json: boolean, apply: boolean): void {
  const shown = rows.map(({ subject, orders, result, reason }) => ({ subject, orders, result, reason }));
  if (json) print(JSON.stringify({ nodes, rows: shown, started, is_open: isOpen }, null, 2));
  else {
    print(`${describeNodes(nodes)}\n`);
    printRows(shown, false);
    if (started.length > 0) print(`\nworkflows started: ${started.length}`);
    print(isOpen ? '\nnothing is missing: the gateway is open' : apply ? '' : '\nnothing was changed: --apply does it');
  }
  if (apply && !isOpen) throw new CommandFailed('the gateway stays closed: not everything could be rebuilt');
}

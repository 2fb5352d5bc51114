import type { Command } from 'commander';
import type { DataSource } from 'typeorm';
import { getFamily } from '../chains/families';
import { loadRegistry } from '../chains/registry';
import { entities } from '../entities';
import { readNodeKeys } from '../mpc/identity';
import { OrderKeys } from '../mpc/order-keys';
import { asksForOrders } from '../orders/node-orders';
import { ConfigError, readConfig } from '../platform/config';
import { createDatabase } from '../platform/database';
import { createTemporalClient } from '../platform/temporal';
import { TransactionEntity } from '../transactions/entity';
import { isEnded } from '../transactions/state';
import { startTransferWorkflow } from '../transfers/workflows';
import { print, printRows } from './output';
import { reconcile, type Reconciliation } from './reconcile-operations';
import { CommandFailed } from './session';

interface Options {
  apply?: boolean;
  acceptMissing?: boolean;
}

/** reconcile: as the owner of the schema, since no process may write what was accepted and ordered. */
export function addReconcileCommand(program: Command): void {
  program
    .command('reconcile')
    .description(
      'compare the database with the orders that the signing nodes have acted on, and show what would be rebuilt after a restored ' +
        'backup; as the owner of the schema (DATABASE_OWNER_URL), with ORDER_KEYS and MPC_NODE_PEER_CERTS',
    )
    .option('--apply', 'rebuild it, and open the gateway when nothing is missing')
    .option('--accept-missing', 'with --apply: open the gateway although something cannot be rebuilt')
    .action(async ({ apply = false, acceptMissing = false }: Options) => {
      await run(program.opts<{ json?: boolean }>().json ?? false, apply, acceptMissing);
    });
}

async function run(json: boolean, apply: boolean, acceptMissing: boolean): Promise<void> {
  const config = readConfig([
    ...(['DATABASE_URL', 'DATABASE_OWNER_URL', 'GATEWAY_ENV', 'CHAINS'] as const),
    ...(['ORDER_KEYS', 'DEPLOYMENT_ID', 'MPC_NODE_PEER_CERTS'] as const),
  ]);
  if (!config.ORDER_KEYS) throw new ConfigError('ORDER_KEYS is missing: what the nodes show cannot be verified');
  const keys = await OrderKeys.create(config.ORDER_KEYS, 'ORDER_KEYS');
  const url = config.DATABASE_OWNER_URL ?? config.DATABASE_URL;
  const database = await createDatabase({ url, poolSize: 2, applicationName: 'gateway-reconcile', entities }).initialize();
  const temporal = createTemporalClient();
  try {
    const result = await reconcile({
      ...{ database, apply, acceptMissing, keys, getFamily },
      ask: asksForOrders(temporal, readNodeKeys(config.MPC_NODE_PEER_CERTS)),
      deployment: config.DEPLOYMENT_ID,
      registry: loadRegistry(config.GATEWAY_ENV, config.CHAINS.split(',')),
    });
    if (apply) for (const txId of result.started) await startAgain(database, temporal, txId);
    show(result, json, apply);
  } finally {
    await database.destroy();
    await temporal.connection.close();
  }
}

/** It continues from the rows, and finds on the chain what became of the transfer. */
async function startAgain(database: DataSource, temporal: ReturnType<typeof createTemporalClient>, txId: string): Promise<void> {
  const transfer = await database.manager.findOneByOrFail(TransactionEntity, { txId });
  if (!isEnded(transfer)) await startTransferWorkflow(temporal, transfer, 'again');
}

function show({ rows, isOpen }: Reconciliation, json: boolean, apply: boolean): void {
  printRows(
    rows.map((row) => ({ ...row })),
    json,
  );
  if (!json) print(isOpen ? '\nnothing is missing: the gateway is open' : apply ? '' : '\nnothing was changed: --apply does it');
  if (apply && !isOpen) throw new CommandFailed('the gateway stays closed: not everything could be rebuilt');
}

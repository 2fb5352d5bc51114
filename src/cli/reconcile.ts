import type { Command } from 'commander';
import { readChainClient } from '../chains/clients';
import { getFamily } from '../chains/families';
import { getSignedType, typeOfOrder } from '../signed-types';
import { loadRegistry } from '../chains/registry';
import { entities } from '../entities';
import { nodeIndexes, quorum } from '../messages/nodes';
import { readNodeKeys } from '../mpc/identity';
import { OrderKeys } from '../mpc/order-keys';
import { describeNodes } from '../orders/missing-orders';
import { asksForOrders } from '../orders/node-orders';
import { ConfigError, readConfig } from '../platform/config';
import { createDatabase } from '../platform/database';
import { createTemporalClient } from '../platform/temporal-client';
import { startTransferWorkflow } from '../transfers/start/workflows';
import { cannotBeUndone, confirm, type Confirmation } from './confirmation';
import { clientsOfEnvironment } from './explain/chain';
import { formatRows, print, printRows } from './output';
import { ownerUrl } from './owner-url';
import { dropExplained } from './reconcile-doubts';
import { compareRebuilt, type Equality, isAllCompared, readsJournals } from './reconcile-equality';
import { reconcile, type Reconciliation } from './reconcile-operations';
import { CommandFailed } from './session';

interface Options extends Confirmation {
  apply?: boolean;
  acceptMissing?: true | string[];
  twoNodes?: boolean;
}

/** reconcile: as the owner of the schema, since no process may write what was accepted and ordered. */
export function addReconcileCommand(program: Command): void {
  cannotBeUndone(program.command('reconcile'))
    .description(
      'compare the database with the orders that the signing nodes have acted on, and show what would be rebuilt after a restored ' +
        'backup; when nothing is missing, compare books, journals and chains too, and say whether they are equal; as the owner of the schema (DATABASE_OWNER_URL), with ORDER_KEYS and MPC_NODE_PEER_CERTS, and CHAIN_<NAME>_RPC_URLS ' +
        'for balances and for what is accepted as missing',
    )
    .option('--apply', 'rebuild it, start the workflows, and open the gateway when nothing is missing')
    .option(
      '--accept-missing [subjects...]',
      'with --apply: open the gateway although something cannot be rebuilt: these subjects; without any, all that wait for nothing',
    )
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
  const nodeKeys = readNodeKeys(config.MPC_NODE_PEER_CERTS);
  const registry = loadRegistry(config.GATEWAY_ENV, config.CHAINS.split(','));
  try {
    const result = await reconcile({
      ...{ database, apply, acceptMissing, statedReason: options.reason, twoNodes, keys, getFamily, getSignedType, typeOfOrder },
      ask: asksForOrders(temporal, nodeKeys),
      start: (transfer) => startTransferWorkflow(temporal, transfer, 'again'),
      deployment: config.DEPLOYMENT_ID,
      countUsed: (chain, address) => readChainClient(chain).usedOrdinals(address),
      registry,
    });
    const compare = () =>
      compareRebuilt({
        ...{ database, orders: result.shown, needed: twoNodes ? quorum : nodeIndexes.length },
        readJournals: readsJournals(temporal, nodeKeys),
        getClient: clientsOfEnvironment(registry.all),
      });
    const isNothingMissing = result.rows.length === 0;
    const { equality, failure } = isNothingMissing
      ? await compare().then(
          (found) => ({ equality: found, failure: null }),
          (error: Error) => ({ equality: null, failure: error }),
        )
      : { equality: null, failure: null };
    if (apply && equality?.differences.length === 0) await dropExplained(database, equality.explained);
    // what was done is told, whatever could not be compared
    show({ ...result, equality }, json, apply);
    if (failure) throw failure;
  } finally {
    await database.destroy();
    await temporal.connection.close();
  }
}

interface Shown extends Reconciliation {
  /** null while orders are missing, or were rebuilt just now: what has just begun is compared when it has ended. */
  equality: Equality | null;
}

function show({ nodes, rows, started, isOpen, equality }: Shown, json: boolean, apply: boolean): void {
  const shown = rows.map(({ subject, orders, result, reason }) => ({ subject, orders, result, reason }));
  if (json) print(JSON.stringify({ nodes, rows: shown, started, is_open: isOpen, ...toJson(equality) }, null, 2));
  else {
    print(`${describeNodes(nodes)}\n`);
    printRows(shown, false);
    if (started.length > 0) print(`\nworkflows started: ${started.length}`);
    if (equality) print(describeEquality(equality));
    print(
      isOpen ? '\nnothing is missing: the gateway is open' : apply || equality ? '' : '\nnothing was changed: --apply does it',
    );
  }
  if (apply && !isOpen) throw new CommandFailed('the gateway stays closed: not everything could be rebuilt');
  if (equality && equality.differences.length > 0) throw new CommandFailed('books, journals and chains are not equal');
}

const toJson = (equality: Equality | null) => ({
  equal: equality && equality.differences.length === 0,
  compared: equality && {
    ...{ orders: equality.orders, transfers: equality.transfers, open: equality.open, balances: equality.balances },
    ...{ older: equality.older, accepted_as_missing: equality.acceptedAsMissing, not_asked: equality.notAsked },
    is_all: isAllCompared(equality),
  },
  differences: equality?.differences ?? [],
});

/** For an operator: what was compared and what not, and the verdict or the differences. */
function describeEquality(equality: Equality): string {
  const { orders, transfers, older, acceptedAsMissing, open, balances, notAsked, explained } = equality;
  const compared = [
    `orders that the nodes show: ${orders}, the database has all of them`,
    `rebuilt transfers compared with the journals of the nodes: ${transfers}, not ended: ${open}`,
    ...(older > 0 ? [`not compared, since they were rebuilt before these: ${older}`] : []),
    ...(acceptedAsMissing > 0 ? [`accepted as missing, which the books do not have: ${acceptedAsMissing}`] : []),
    `balances of their accounts compared with the chains: ${balances}`,
    ...(notAsked.length > 0 ? [`not asked for balances: ${notAsked.join(', ')}`] : []),
    ...(explained.length > 0
      ? [`accounts whose transactions a chain had counted higher, and which are explained: ${explained.length}`]
      : []),
    'the ledger is compared with itself',
  ];
  return `${compared.join('\n')}\n\n${verdictOf(equality)}`;
}

function verdictOf(equality: Equality): string {
  const { differences } = equality;
  if (differences.length > 0) return formatRows(differences.map((row) => ({ ...row })));
  return isAllCompared(equality)
    ? 'books, journals and chains are equal'
    : 'what was compared is equal; the lines above say what was not compared';
}

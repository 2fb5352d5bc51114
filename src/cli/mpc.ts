import type { Command } from 'commander';
import { getFamily } from '../chains/families';
import { loadRegistry } from '../chains/registry';
import { Identity, identityVariables, toIdentityFiles } from '../mpc/identity';
import { NodeLimits } from '../mpc/limits';
import { OrderKeys, readOrderKeys, withOwnKey } from '../mpc/order-keys';
import { readOwnCopies } from '../mpc/own-copies';
import { parsePeers, TransportClient } from '../mpc/transport-client';
import { type JournalDifference, verifyCopies, verifyStatements } from '../mpc/verify-journal';
import { type OrderSource, verifyOrders } from '../mpc/verify-orders';
import { readConfig } from '../platform/config';
import { GatewayError } from '../platform/errors';
import { cannotBeUndone, confirm, type Confirmation } from './confirmation';
import { listKeys } from './mpc-keys';
import { MpcOperations } from './mpc-operations';
import type { NodeRun, NodeSession } from './node-session';
import { currentOperator } from './operator';
import { integer, toLimit } from './options';
import { print, printRow, printRows } from './output';
import { CommandFailed } from './session';

/** mpc: for the operator of one signing node, with that node's environment. */
export function addMpcCommands(program: Command, run: NodeRun): void {
  const mpc = program.command('mpc').description('one signing node, by its own database (MPC_NODE_DATABASE_URL)');
  mpc.command('status').description('journal, bans and refusals in numbers').action(run(status));
  mpc
    .command('keys')
    .description('keys that this node has a share of: their wallets, bans and signatures, by key id')
    .option('--key <key-id>', 'only this key')
    .option('--after <key-id>', 'only keys after this one: the next page')
    .option('--limit <number>', 'maximum number of keys', toLimit, 50)
    .action(run(keys));
  mpc.command('bans').description('bans of this node, and those its peers have sent it').action(run(bans));
  mpc
    .command('refused')
    .description('what this node has refused to peers and to Temporal, newest first')
    .option('--limit <number>', 'maximum number of requests', toLimit, 50)
    .action(run(refused));
  mpc.command('limits').description("this node's limits, with the amounts of the last 24 hours").action(run(limits));
  cannotBeUndone(mpc.command('unfreeze'))
    .argument('<key-id>', 'key')
    .argument('<peer>', 'node that this node has banned', integer(1, 3))
    .argument('<order-id>', 'jti of an order that this node was asked to sign')
    .description('admit what one order says with a banned peer once, to move the funds of a frozen key')
    .action(run(unfreeze));
  const journal = mpc.command('journal').description('what the node has agreed to sign');
  journal
    .command('verify')
    .description('check signatures, rows and the orders that they name; exit code 1 if something differs')
    .option('--peers', "compare with what the peers keep (needs the node's certificates and MPC_NODE_PEERS)")
    .action(run(verify));
  cannotBeUndone(journal.command('accept'))
    .description('let a node sign that waits for missing entries: what they forbid is then not remembered')
    .action(run(accept));
}

interface KeyOptions {
  key?: string;
  after?: string;
  limit: number;
}

async function status({ database, json }: NodeSession): Promise<void> {
  printRow(await new MpcOperations(database).status(), json);
}

async function keys({ database, json }: NodeSession, { key, after, limit }: KeyOptions): Promise<void> {
  const rows = await listKeys(database, { keyId: key, after, limit });
  if (key === undefined) return printRows(rows, json);
  const [row] = rows;
  if (!row) throw new GatewayError('not_found', `this node has no share of key ${key}`);
  printRow(row, json);
}

async function bans({ database, json }: NodeSession): Promise<void> {
  printRows(await new MpcOperations(database).bans(), json);
}

async function refused({ database, json }: NodeSession, { limit }: { limit: number }): Promise<void> {
  printRows(await new MpcOperations(database).refused(limit), json);
}

async function limits({ database, json }: NodeSession): Promise<void> {
  const { MPC_NODE_LIMITS: file, GATEWAY_ENV, CHAINS } = readConfig(['MPC_NODE_LIMITS', 'GATEWAY_ENV', 'CHAINS']);
  const registry = loadRegistry(GATEWAY_ENV, CHAINS.split(','));
  const listed = file ? NodeLimits.read(file, { registry, getFamily }).list() : [];
  if (!file && !json) print('MPC_NODE_LIMITS is not set: this node has no limits of its own');
  printRows(await new MpcOperations(database).withAmounts(listed), json);
}

async function unfreeze(
  { database, json }: NodeSession,
  keyId: string,
  peer: number,
  orderId: string,
  confirmation: Confirmation,
): Promise<void> {
  await confirm(`let this node sign order ${orderId} by key ${keyId} once with node ${peer}, which it has banned`, confirmation);
  const frozen = { keyId, peer, orderId, reason: confirmation.reason };
  const order = await new MpcOperations(database).unfreeze(frozen, currentOperator().id);
  const { tx_id, attempt, kind, chain, from, recipients, memo } = order;
  const pays = recipients.map(({ address, amount, token }) => `${amount} of ${token ?? 'native'} to ${address}`).join(', ');
  printRow({ tx_id, attempt, kind, chain, from, pays, ...(memo !== undefined && { memo }) }, json);
  if (!json) print(`may be signed with node ${peer} once, unless node ${peer} has a ban of its own`);
}

async function accept({ database, json }: NodeSession, confirmation: Confirmation): Promise<void> {
  await confirm('let this node sign without the missing entries of its journal', confirmation);
  await new MpcOperations(database).acceptJournal(currentOperator().id, confirmation.reason);
  if (!json) print('a node that waits for its journal goes on within seconds');
}

async function verify({ database, json }: NodeSession, { peers = false }: { peers?: boolean }): Promise<void> {
  const identity = readIdentity();
  const getKeys = identity.getKeys.bind(identity);
  const source = await readOrderSource();
  const differences = await collect(verifyStatements(database, identity.index, getKeys));
  differences.push(...(await collect(verifyOrders(database, source))));
  if (peers) {
    const client = new TransportClient(identity, parsePeers(readConfig(['MPC_NODE_PEERS']).MPC_NODE_PEERS));
    try {
      for (const peer of identity.others) {
        const copies = readOwnCopies(identity.index, getKeys(identity.index), peer, 0, (after) => client.copies(peer, after));
        differences.push(...(await collect(verifyCopies(database, peer, copies))));
      }
    } finally {
      client.close();
    }
  }
  if (differences.length === 0) return json ? printRows([], true) : print('the journal is what this node has signed');
  printRows(
    differences.map(({ table, subject, difference }) => ({ table, subject, difference })),
    json,
  );
  throw new CommandFailed(differences.length === 1 ? '1 difference' : `${differences.length} differences`);
}

/** Orders older than a replacement of the authoriser's key are verified with ORDER_KEYS: nodes only have its current keys. */
async function readOrderSource(): Promise<OrderSource> {
  const { MPC_NODE_ORDER_KEYS: present, MPC_NODE_DEPLOYMENT: deployment } = readConfig([
    'MPC_NODE_ORDER_KEYS',
    'MPC_NODE_DEPLOYMENT',
  ]);
  const { ORDER_KEYS: all, GATEWAY_ENV, CHAINS } = readConfig(['ORDER_KEYS', 'GATEWAY_ENV', 'CHAINS']);
  const jwks = readOrderKeys(present, 'MPC_NODE_ORDER_KEYS').reduce<string | undefined>(
    (known, key) => withOwnKey(known, key.export({ format: 'jwk' })),
    all,
  );
  const keys = await OrderKeys.create(jwks ?? present, 'ORDER_KEYS');
  return { keys, deployment, registry: loadRegistry(GATEWAY_ENV, CHAINS.split(',')), getFamily };
}

/** Differences of one kind listed at most. */
const maxDifferences = 1_000;

async function collect(differences: AsyncIterable<JournalDifference>): Promise<JournalDifference[]> {
  const found: JournalDifference[] = [];
  for await (const difference of differences) {
    found.push(difference);
    if (found.length >= maxDifferences) break;
  }
  return found;
}

const readIdentity = (): Identity => new Identity(toIdentityFiles(readConfig(identityVariables)));

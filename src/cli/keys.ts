import type { Command } from 'commander';
import { orderLifetimeSeconds } from '../messages/order';
import { parseKeks, ShareCipher } from '../mpc/share-cipher';
import { ConfigError, readConfig } from '../platform/config';
import { hasReason, type Reasoned } from './confirmation';
import { rotateKek } from './kek-rotation';
import type { NodeRun, NodeSession } from './node-session';
import { currentOperator } from './operator';
import { createOrderKey, type NewOrderKey, writeOnlyKey } from './order-key-files';
import { print, printRow } from './output';
import { resealSecrets } from './reseal-secrets';
import type { Run } from './run';
import { openBox } from './secrets';
import type { Session } from './session';

/** keys: replacing those of the gateway, and that of a signing node's shares. docs/keys.md has the whole procedures. */
export function addKeyCommands(program: Command, run: Run, runOnNode: NodeRun): void {
  const rotate = program.command('keys').description('keys of orders, stored secrets and shares').command('rotate');
  rotate.description('replace a key; docs/keys.md has all steps');
  rotate
    .command('order')
    .argument('<folder>', 'where the files are written; none is overwritten')
    .option('--current <kid>', 'the key that the authoriser signs with now, if ORDER_KEYS has several')
    .option('--finish <kid>', 'write the JWKS without the other keys, for the nodes')
    .description('make a new order key and the JWKS of the nodes and operators, from ORDER_KEYS')
    .action(rotateOrderKey);
  hasReason(rotate.command('secrets'))
    .description('encrypt TOTP and webhook secrets with the first key of their variables, so that the old keys can be removed')
    .action(run(rotateSecrets));
  hasReason(rotate.command('kek'))
    .description('on a signing node: encrypt its shares with the first key of MPC_NODE_KEK, so that the old one can be removed')
    .action(runOnNode(rotateNodeKek));
}

interface OrderOptions {
  current?: string;
  finish?: string;
}

async function rotateOrderKey(folder: string, { current, finish }: OrderOptions, command: Command): Promise<void> {
  const { ORDER_KEYS: jwks } = readConfig(['ORDER_KEYS']);
  if (!jwks) throw new ConfigError("ORDER_KEYS is missing: the JWKS of the authoriser's public keys");
  const json = command.optsWithGlobals<{ json?: boolean }>().json ?? false;
  if (finish !== undefined) {
    const nodes = await writeOnlyKey(folder, jwks, finish);
    return json ? print(JSON.stringify({ kid: finish, files: { nodes } }, null, 2)) : print(lastStep(nodes));
  }
  const created = await createOrderKey({ folder, jwks, current });
  print(json ? JSON.stringify(created, null, 2) : steps(created, folder));
}

const steps = ({ kid, files }: NewOrderKey, folder: string): string =>
  [
    `new order key ${kid}`,
    '',
    `1. All three nodes: MPC_NODE_ORDER_KEYS_FILE=${files.nodes}`,
    `   Operators:       ORDER_KEYS_FILE=${files.operators}`,
    '   Restart the nodes one after another.',
    `2. When all three run with it: ORDER_KEY_FILE=${files.private_key} for every authoriser. Restart them.`,
    `3. ${orderLifetimeSeconds / 60} minutes after the last authoriser with the old key has ended:`,
    `   gateway keys rotate order ${folder} --finish ${kid}`,
  ].join('\n');

const lastStep = (file: string): string =>
  [
    `All three nodes: MPC_NODE_ORDER_KEYS_FILE=${file}`,
    'Restart them one after another, then destroy the old private key. ORDER_KEYS of operators stays: old orders are verified with it.',
  ].join('\n');

async function rotateSecrets({ database, json }: Session, { reason }: Reasoned): Promise<void> {
  const boxes = { totp: openBox('TOTP_SECRETS_KEY'), webhooks: openBox('WEBHOOK_SECRETS_KEY') };
  printRow({ ...(await resealSecrets(database, boxes, { reason })) }, json);
}

async function rotateNodeKek({ database, json }: NodeSession, { reason }: Reasoned): Promise<void> {
  const { MPC_NODE_KEK: keks, MPC_NODE_INDEX: node } = readConfig(['MPC_NODE_KEK', 'MPC_NODE_INDEX']);
  const operator = currentOperator().id;
  const report = await rotateKek(database, new ShareCipher(parseKeks(keks), node), { node, operator, reason });
  printRow({ ...report }, json);
}

import type { Command } from 'commander';
import { createProgram } from './program';

/** What every command of operators has: a question before what cannot be undone, a reason for the audit log, a list for its ids. */

const program = createProgram();

const leaves = (command: Command, path: string[] = []): [string, Command][] =>
  command.commands.length === 0
    ? [[path.join(' '), command]]
    : command.commands.flatMap((child) => leaves(child, [...path, child.name()]));
const commands = new Map(leaves(program));
const optionsOf = (name: string): string[] => commands.get(name)?.options.map(({ long }) => long ?? '') ?? [];

/** They change nothing. */
const reads = /( |^)(list|show|status|history|explain|verify|head|keys|bans|refused|limits|versions)$/;

const cannotBeUndone = [
  ...['account accept-count', 'api-key revoke', 'asset unfreeze', 'mpc journal accept', 'mpc unfreeze', 'settlers withdraw'],
  ...['totp remove', 'transfers abandon', 'transfers cancel', 'transfers redo', 'utxo consolidate', 'reconcile'],
  // with --renew
  ...['setup files'],
  ...['migrate', 'totp enroll', 'totp recover'],
];
const canBeUndone = [
  ...['keys rotate kek', 'keys rotate secrets'],
  ...['account disable', 'account enable', 'client disable', 'client enable', 'client policy', 'settlers drain'],
  ...[
    'settlers primary',
    'settlers resume',
    'temporal pin',
    'temporal unpin',
    'totp unlock',
    'transfers retry',
    'user disable',
    'user enable',
  ],
  ...['wallet limit clear', 'wallet limit set', 'wallet resume', 'wallet suspend', 'x402 policy'],
];
/** They make something new, or are a part of setting up, restoring and upgrading a deployment. */
const others = [
  ...['api-key create', 'client create', 'settlers create', 'user create', 'wallet bind'],
  ...['keys rotate order', 'setup databases', 'totp confirm'],
  ...['temporal set-current', 'temporal set-ramp', 'temporal setup'],
];

test('every command is one of these', () => {
  const changing = [...commands.keys()].filter((name) => !reads.test(name));
  expect(changing.sort()).toEqual([...cannotBeUndone, ...canBeUndone, ...others].sort());
});

test.each(cannotBeUndone)('%s asks before, and takes a reason', (name) => {
  expect(optionsOf(name)).toEqual(expect.arrayContaining(['--yes', '--reason']));
});

test.each(canBeUndone)('%s takes a reason', (name) => {
  expect(optionsOf(name)).toContain('--reason');
  expect(optionsOf(name)).not.toContain('--yes');
});

test('what moves money, or lets it move, can be tried without doing it, and `reconcile` shows first what it would do', () => {
  const tried = [...commands.keys()].filter((name) => optionsOf(name).includes('--dry-run'));
  expect(tried.sort()).toEqual([
    ...['account accept-count', 'asset unfreeze', 'migrate', 'settlers withdraw'],
    ...['transfers abandon', 'transfers cancel', 'transfers redo', 'transfers retry', 'utxo consolidate'],
  ]);
  expect(optionsOf('reconcile')).toContain('--apply');
});

/** Where the ids of arguments are listed. Names and addresses are an operator's own; chains are those of CHAINS. */
const lists: Record<string, string> = {
  'account-id': 'account list',
  'api-key': 'api-key list',
  'asset-id': 'asset list',
  build: 'temporal versions',
  client: 'client list',
  'key-id': 'mpc keys',
  'order-id': 'mpc refused',
  peer: 'mpc bans',
  runs: 'transfers list',
  'settler-id': 'settlers list',
  symbol: 'wallet limit show',
  'tx-id': 'transfers list',
  user: 'user list',
  'user-id': 'user list',
  'wallet-id': 'wallet list',
};
const ownWords = ['chain', 'code', 'count', 'folder', 'id', 'name', 'percent'];

test('there is a list for everything that a command needs an id of', () => {
  const needed = [...commands.values()].flatMap(({ registeredArguments }) =>
    registeredArguments.map((argument) => argument.name()),
  );
  expect([...new Set(needed)].filter((name) => !ownWords.includes(name)).sort()).toEqual(Object.keys(lists).sort());
  for (const list of Object.values(lists)) expect([...commands.keys()]).toContain(list);
});

import type { Command } from 'commander';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';
import { createProgram } from '../cli/program';
import { documents } from './documents';

/** The commands that the documents name: whether they are there, with these options, and with the arguments that they take. */

const inProject = (...names: string[]): string => path.join(projectRoot, ...names);
const read = (file: string): string => readFileSync(inProject(file), 'utf8');

interface Code {
  text: string;
  /** A line to be typed as it stands; within a sentence a command may be named without what it takes. */
  isTyped: boolean;
}

/** Lines of code, in blocks and within sentences; a line that ends with a backslash goes on in the next one. */
function codeOf(document: string): Code[] {
  const text = read(document);
  const blocks = [...text.matchAll(/^( *)```[^\n]*\n([\s\S]*?)^\1```$/gm)].flatMap(([, , code = '']) =>
    code.replace(/\\\n */g, '').split('\n'),
  );
  const prose = text.replace(/^( *)```[\s\S]*?^\1```$/gm, '');
  // a text may go on in the next line; the bar of a choice is escaped in a table
  const named = [...prose.matchAll(/`([^`\n]+(?:\n[^`\n]+)?)`/g)].map(([, code = '']) =>
    code.replaceAll('\\|', '|').replace(/\s*\n\s*/g, ' '),
  );
  return [...blocks.map((line) => ({ text: line, isTyped: true })), ...named.map((code) => ({ text: code, isTyped: false }))];
}

const begins = String.raw`(?:^\s*(?:\$ )?|&& |; |\| |\$\(|\/)(?:npx )?`;
const ofCompose = String.raw`docker compose run (?:-v \S+ |-\S+ )*(?:gateway|owner|mpc-\d|setup node bin\/gateway\.js) `;
/** Each of a line: what follows one is looked at again. */
const gatewayCommand = new RegExp(`(?:${ofCompose}|bin/gateway\\.js |${begins}gateway )(?=([a-z].*))`, 'g');

/** Words of a command up to a comment, a pipe, a redirection or the next command; a placeholder and a quoted text are one word each. */
function wordsOf(command: string): string[] {
  const simple = command
    .replace(/'[^']*'|"[^"]*"/g, '…')
    .replace(/<[^<>]*>/g, '<>')
    .replace(/[[\]]/g, '');
  const [own = ''] = simple.split(/ #|\s\||\s[<>](?!>)|;|&&|\)/);
  return own.trim().split(/\s+/);
}

/**
 * What is wrong with a command of `gateway`, or null.
 * @param isTyped it is to be typed as it stands; else it may be named without its arguments
 */
function findProblem(program: Command, command: string, isTyped = false): string | null {
  const words = wordsOf(command);
  // several commands of a group at once
  const several = words.findIndex(
    (word) => /^[a-z]+(\|[a-z]+)+$/.test(word) && !words.slice(0, words.indexOf(word)).some(isOption),
  );
  if (several >= 0) {
    const before = words.slice(0, several).join(' ');
    const problems = words[several]?.split('|').map((word) => findProblem(program, `${before} ${word}`, isTyped));
    return problems?.find((problem) => problem !== null) ?? null;
  }
  let found = program;
  for (let next = named(found, words[0]); next; next = named(found, words[0])) {
    found = next;
    words.shift();
  }
  // a group of commands is named alone, or with three dots for any of them
  if (found.commands.length > 0)
    return found !== program && (words.length === 0 || words[0] === '…') ? null : `${found.name()} has no ${words[0]}`;
  const given: string[] = [];
  const options: string[] = [];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (!isOption(word)) given.push(word);
    else if (!['--json', '--help'].includes(word)) {
      const option = found.options.find(({ long }) => long === word);
      if (!option) return `${found.name()} has no option ${word}`;
      options.push(word);
      if (!option.required && !option.optional) continue;
      const value = words.shift();
      const wrong = (value?.split('|') ?? []).filter((it) => /^[a-z]/.test(it) && option.argChoices?.includes(it) === false);
      if (wrong.length > 0) return `${word} of ${found.name()} is never ${wrong.join(', ')}`;
    }
  }
  const most = found.registeredArguments.some(({ variadic }) => variadic) ? Infinity : found.registeredArguments.length;
  if (given.length > most) return `${found.name()} takes ${most} arguments, and not ${given.join(' ')}`;
  return isTyped || given.length > 0 ? findMissing(found, given, options) : null;
}

/** What the command cannot be without, or null; three dots stand for all the rest. */
function findMissing(command: Command, given: string[], named: string[]): string | null {
  const { registeredArguments, options } = command;
  if (given.at(-1) === '…') return null;
  const argument = registeredArguments.filter(({ required }) => required)[given.length];
  if (argument) return `${command.name()} needs ${argument.name()}`;
  const option = options.find(({ mandatory, long }) => mandatory && !named.includes(long ?? ''));
  return option ? `${command.name()} needs ${option.long}` : null;
}

const isOption = (word: string): boolean => word.startsWith('--');
const named = (command: Command, word: string | undefined): Command | undefined =>
  command.commands.find((child) => child.name() === word);

/** Of jest, which reads what follows `--` of the tests' scripts. */
const ofJest = ['--testPathPatterns', '--selectProjects', '--runInBand'];
type Manifest = { name: string; scripts: Record<string, string> };
const manifest = (folder = '.'): Manifest => JSON.parse(read(path.join(folder, 'package.json'))) as Manifest;

/** What is wrong with `npm run`, or null. */
function findScriptProblem(command: string): string | null {
  const words = wordsOf(command).filter((word) => word !== '--silent');
  const [name = ''] = words;
  const workspace = words[1] === '-w' ? words[2] : undefined;
  const script = manifest(workspace).scripts[name];
  // any of a group of scripts: `test:…`
  if (script === undefined)
    return Object.keys(manifest(workspace).scripts).some((it) => name.endsWith('…') && it.startsWith(name.slice(0, -1)))
      ? null
      : `package.json has no script ${name}`;
  const options = words.slice(words.indexOf('--') + 1).filter((word) => words.includes('--') && word.startsWith('--'));
  const source = sourceOf(script);
  const missing = options.filter((option) => !(script.includes('jest') && ofJest.includes(option)) && !source.includes(option));
  return missing.length > 0 ? `${name} has no option ${missing.join(', ')}` : null;
}

/** The text of the program that a script starts: its file, or all of its folder. */
function sourceOf(script: string): string {
  const [, entry = ''] = /node (?:dist\/)?((?:dev|scripts)\/\S+?)(?:\.m?js)?$/.exec(script) ?? [];
  const files = entry.endsWith('/index')
    ? readdirSync(inProject(path.dirname(entry))).map((name) => path.join(path.dirname(entry), name))
    : ['.ts', '.mjs'].map((kind) => `${entry}${kind}`);
  return files
    .filter((file) => /\.m?[jt]s$/.test(file) && existsSync(inProject(file)))
    .map(read)
    .join('\n');
}

const program = createProgram();
const all = documents();
const linesWith = (pattern: RegExp): [string, string, boolean][] =>
  all
    .flatMap((document) => {
      const found = codeOf(document).flatMap(({ text, isTyped }) =>
        [...text.matchAll(pattern)].map(([, code = '']): [string, boolean] => [code, isTyped]),
      );
      return [...new Map(found.map(([code, isTyped]) => [`${code} ${isTyped}`, [document, code, isTyped] as const])).values()];
    })
    .map(([document, code, isTyped]) => [document, code, isTyped]);
const commands = linesWith(gatewayCommand);
const scripts = linesWith(/\bnpm run (?=([^`]+))/g);

it('the documents name commands of operators and scripts', () => {
  expect(commands.length).toBeGreaterThan(150);
  expect(scripts.length).toBeGreaterThan(50);
  for (const document of ['README.md', 'CONTRIBUTING.md', 'docs/failed-transfer.md', 'docs/runbook/alerts.md'])
    expect(commands.map(([name]) => name)).toContain(document);
});

it.each(commands)('%s: gateway %s', (_document, command, isTyped) => expect(findProblem(program, command, isTyped)).toBeNull());

it.each(scripts)('%s: npm run %s', (_document, command) => expect(findScriptProblem(command)).toBeNull());

it.each([
  ['transfer list', 'gateway has no transfer'],
  ['transfers ls', 'transfers has no ls'],
  ['transfers redo <tx_id> --dryrun', 'redo has no option --dryrun'],
  ['transfers retry <tx_id> again', 'retry takes 1 arguments, and not <> again'],
  ['setup files --renew everything', '--renew of files is never everything'],
  ['settlers create|mend', 'settlers has no mend'],
  ['wallet limit set <wallet_id> --max-single 1', 'set needs symbol'],
  ['settlers withdraw <settler_id>', 'withdraw needs --to'],
])('`gateway %s` would be noticed', (command, problem) => expect(findProblem(program, command)).toBe(problem));

it.each([
  ['tests', 'package.json has no script tests'],
  ['replay -- failed.json --debugger', 'replay has no option --debugger'],
])('`npm run %s` would be noticed', (command, problem) => expect(findScriptProblem(command)).toBe(problem));

it('a command that is to be typed has its arguments; within a sentence it may be named alone', () => {
  expect(findProblem(program, 'transfers retry', true)).toBe('retry needs tx-id');
  expect(findProblem(program, 'transfers retry')).toBeNull();
});

it('every command of a line is read', () => {
  const line = 'npx gateway transfers list | head -1; id=$(gateway transfers ls) && gateway audit lst > file';
  const found = [...line.matchAll(gatewayCommand)].map(([, command = '']) => findProblem(program, command));
  expect(found).toEqual([null, 'transfers has no ls', 'audit has no lst']);
});

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';
import { documentedBlocks, documentedCommands, lineNotRun, notRunByDeploy } from '../../deploy/documented';
import { inlineCommands, shellBlocks } from '../documents/shell-blocks';
import { services, words } from './compose-file';

/**
 * Which test runs the code of docs/deployment.md and docs/upgrades.md, and of the documents about the replacement of keys. `npm run test:deploy` runs what has `docker compose`, as it stands, the
 * commands of the services and what the images are built with; the rest is in one of these lists.
 */
const documents = ['docs/deployment.md', 'docs/upgrades.md', 'docs/keys.md', 'docs/jwt-keys.md'];
const threeMachines = 'test/unit/deploy/three-machines.test.ts';
/** Run by `npm run test:deploy`. */
const machines = 'test/deploy/machines.ts';
const workerVersions = 'test/crash/worker-versions.test.ts';
const operators = 'test/deploy/operators.ts';
const onStack = 'test/e2e/cli.test.ts';
const accessTokens = 'test/unit/http/access-tokens.test.ts';

interface Test {
  file: string;
  /** What the file has to contain, where it is not the words of the command, in their order and as words of a program. */
  as?: string;
}

/** Code by its first words; a command of `gateway` up to the first option or placeholder. */
const runBy: Record<string, Test> = {
  'gateway setup files': {
    file: threeMachines,
    as: "shellBlocks('docs/deployment.md').filter(({ section, who }) => section === 'Files' && who === '')",
  },
  'gateway setup files --out whole': { file: threeMachines, as: "commandOf('gateway setup files --out whole')" },
  'cp -a deployment whole': { file: threeMachines, as: "commandOf('cp -a')" },
  'gateway migrate': { file: 'test/integration/cli/command-line.test.ts', as: "await migrate('--dry-run')" },
  'gateway reconcile': { file: operators },
  'gateway mpc journal verify': { file: operators },
  'gateway wallet bind': { file: operators },
  'gateway wallet list': { file: operators },
  'gateway keys rotate kek': { file: operators },
  'gateway temporal set-current': { file: workerVersions, as: "temporalOutput('set-current', build" },
  'gateway temporal set-ramp': { file: workerVersions, as: "temporalOutput('set-ramp', newBuild" },
  'gateway temporal versions': { file: workerVersions, as: "temporalCommand('versions')" },
  'gateway temporal pin': { file: workerVersions, as: "temporalOutput('pin', oldBuild" },
  'gateway temporal unpin': { file: workerVersions, as: "temporalOutput('unpin', newBuild" },
  'gateway orders show': { file: onStack },
  'gateway ledger verify': { file: onStack },
  'gateway audit verify': { file: onStack },
  'gateway transfers retry': { file: onStack },
  'gateway transfers history': { file: onStack },
  "docker compose run --rm --no-deps -T --entrypoint sh setup -euc '": {
    file: 'test/unit/deploy/replaced-files.test.ts',
    as: "code.includes('echo production >')",
  },
  'openssl genpkey -algorithm ed25519 -out jwt-new.pem': { file: accessTokens, as: "shellBlocks('docs/jwt-keys.md')" },
  'openssl pkey -in jwt-old.pem -pubout': { file: accessTokens, as: "shellBlocks('docs/jwt-keys.md')" },
  'node scripts/sbom.mjs': { file: 'test/unit/deploy/packages.test.ts', as: "'scripts/sbom.mjs'), folder]" },
};
/** What no test runs by itself, by its first words, and why. */
const notRun: Record<string, string> = {
  ...notRunByDeploy,
  'npm run test:deploy': 'it is the test of the images itself, and not a part of `npm test`',
  'DEPLOY_TRANSFERS=300 npm run test:deploy': 'the same with 400 transfers more, for the numbers of the table alone',
  'npm run dev': 'it runs until it is stopped: the stack of the e2e tests is the same',
  'npm sbom': 'scripts/sbom.mjs runs it, which is run by test/unit/deploy/packages.test.ts',
  'gateway temporal …': 'a group of commands, each of which is named elsewhere',
  'gateway mpc': 'the same',
  'openssl cms': 'named without its arguments, for code that npm run test:deploy runs',
};

const read = (file: string): string => readFileSync(path.join(projectRoot, file), 'utf8');
const startsWith = (code: string, words: string): boolean =>
  code === words || code.startsWith(`${words} `) || code.startsWith(`${words}\n`);
const longest = (code: string, list: Record<string, unknown>): string | undefined =>
  Object.keys(list)
    .filter((words) => startsWith(code, words))
    .sort((a, b) => b.length - a.length)[0];
const blocks = documents.flatMap(shellBlocks);
const commands = documents.flatMap((document) =>
  inlineCommands(document, [
    ...[
      'docker',
      'gateway',
      'npm',
      'npx',
      'node',
      'openssl',
      'psql',
      'pg_dump',
      'pg_restore',
      'dropdb',
      'createdb',
      'curl',
      'promtool',
    ],
    ...[
      'cp',
      'git',
      'echo',
      'cat',
      'rm',
      'mv',
      'sh',
      'bash',
      'sed',
      'tar',
      'gpg',
      'chmod',
      'chown',
      'mkdir',
      'kill',
      'temporal',
      'systemctl',
      'sudo',
    ],
  ]),
);

/** The words before the first option or placeholder, and the options. */
function partsOf(code: string): { words: string[]; options: string[] } {
  const all = code.split(/\s+/);
  const end = all.findIndex((word) => /^(-|[<"'{…])/.test(word));
  return { words: end < 0 ? all : all.slice(0, end), options: code.match(/(?<= )--[a-z-]+/g) ?? [] };
}
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
/** As the words of one program: in one string, or in strings one after another, that begin with the first. */
const hasInOrder = (text: string, words: readonly string[]): boolean =>
  new RegExp(`(?<=['"\`])${words.map(escaped).join(`(?: |['"\`], ['"\`])`)}(?=[ '"\`])`).test(text);

/** What `npm run test:deploy` runs: code of the documents, and the services with their health checks. */
const runByDeploy = [...documentedBlocks().map(({ code }) => code), ...documentedCommands()];
const ofServices = services.flatMap(([, service]) => [words(service), service.healthcheck?.test ?? []].map((it) => it.join(' ')));
const ofImages = read('Dockerfile').match(/^RUN .*$/gm) ?? [];

/** In one of the lists of what `npm run test:deploy` runs, with all options. */
function isRunByDeploy(code: string): boolean {
  const { words: named, options } = partsOf(code);
  const [program = '', ...rest] = named;
  const isIn = (text: string, wanted: string): boolean =>
    new RegExp(`(?<![\\w-])${escaped(wanted)}(?![\\w-])`).test(text) && options.every((option) => text.includes(option));
  if (program === 'gateway') {
    const wanted = rest.join(' ');
    if (ofServices.some((line) => isIn(line, `bin/gateway.js ${wanted}`))) return true;
    const lines = runByDeploy.flatMap((text) => text.split('\n')).filter((line) => /docker compose run/.test(line));
    return lines.some((line) => isIn(line, wanted));
  }
  return [...runByDeploy, ...ofServices, ...ofImages].some((text) => isIn(text, code));
}

function assertRun(code: string, { file, as }: Test): void {
  expect([code, file]).toEqual([code, expect.stringMatching(/^test\/.*\.ts$/)]);
  const text = read(file);
  const { words: named, options } = partsOf(code);
  const isFound = as === undefined ? hasInOrder(text, named.slice(1)) : text.includes(as);
  expect([code, file, isFound]).toEqual([code, file, true]);
  if (as === undefined) for (const option of options) expect([code, file, text.includes(option)]).toEqual([code, file, true]);
}

it.each(blocks.map((block) => [`${block.document}, ${block.section}: ${block.code.split('\n')[0]}`, block] as const))(
  'a test runs %s',
  (_name, { code, who, document, section }) => {
    const isOfDeploy = documentedBlocks().some((it) => it.code === code && it.document === document && it.section === section);
    if (isOfDeploy || longest(code, notRun) !== undefined) return;
    if (who !== '') return expect(read(threeMachines) + read(machines)).toContain(`commandsOf('${who}')`);
    const test = runBy[longest(code, runBy) ?? ''];
    expect([code, test?.as]).toEqual([code, expect.any(String)]);
    if (test) assertRun(code, test);
  },
);

it.each([...new Set(commands)])('a test runs `%s`, or a reason is given', (code) => {
  if (longest(code, notRun) !== undefined || isRunByDeploy(code)) return;
  const test = runBy[longest(code, runBy) ?? ''];
  expect([code, test !== undefined]).toEqual([code, true]);
  if (test) assertRun(code, test);
});

it.each([
  ['gateway keys rotate all', false],
  ['gateway migrate --force', false],
  ['gateway migrate --yes', true],
  ['gateway audit head --json', true],
  ['gateway audit tail', false],
  ['node scripts/healthy.cjs', true],
  ['node scripts/unhealthy.cjs', false],
  ['npm run build', true],
  ['npm run builds', false],
])('`npm run test:deploy` runs `%s`: %s', (code, expected) => expect(isRunByDeploy(code)).toBe(expected));

it('words of a command count where a program gets them in this order alone', () => {
  const text = `run('gateway', 'wallet list', x); cli('orders', 'show', id); // wallet bind`;
  expect(hasInOrder(text, ['wallet', 'list'])).toBe(true);
  expect(hasInOrder(text, ['orders', 'show'])).toBe(true);
  for (const words of [['wallet', 'bind'], ['show', 'orders'], ['list'], ['wallet', 'lis']])
    expect(hasInOrder(text, words)).toBe(false);
});

it('a command with variables in front of it is found', () =>
  expect(commands).toContain('DEPLOY_TRANSFERS=300 npm run test:deploy'));

it('code in SQL is run by a test that reads it from the document', () => {
  const withSql = documents.filter((document) => read(document).includes('```sql'));
  expect(withSql).toEqual(['docs/deployment.md']);
  expect(read(withSql[0] ?? '').match(/```sql/g)?.length).toBe(1);
  expect(read('test/integration/cli/setup-databases.test.ts')).toContain(
    "'docs/deployment.md'), 'utf8');\n  const [, code = ''] = /```sql",
  );
});

it('the lists have nothing that the documents do not have', () => {
  const all = [...blocks.map(({ code }) => code), ...commands];
  for (const words of [...Object.keys(runBy), ...Object.keys(notRun)])
    expect([words, all.some((code) => startsWith(code, words))]).toEqual([words, true]);
  const lines = blocks.flatMap(({ code }) => code.split('\n'));
  for (const line of Object.keys(lineNotRun)) expect(lines).toContain(line);
});

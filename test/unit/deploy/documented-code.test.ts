import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';
import { documentedBlocks, documentedCommands, lineNotRun, notRunByDeploy } from '../../deploy/documented';
import { inlineCommands, shellBlocks } from '../documents/shell-blocks';

/**
 * Which test runs the code of docs/deployment.md and docs/upgrades.md, and of the documents about the replacement of keys. `npm run test:deploy` runs what has `docker compose`, as it stands; the rest
 * is in one of these lists.
 */
const documents = ['docs/deployment.md', 'docs/upgrades.md', 'docs/keys.md', 'docs/jwt-keys.md'];
const threeMachines = 'test/unit/deploy/three-machines.test.ts';
const databases = 'test/integration/cli/setup-databases.test.ts';
const workerVersions = 'test/crash/worker-versions.test.ts';
const operators = 'test/deploy/operators.ts';
const onStack = 'test/e2e/cli.test.ts';
const accessTokens = 'test/unit/http/access-tokens.test.ts';

/** The file that runs a command, by its first words; it has the words that follow `gateway`, up to the first option or placeholder. */
const runBy: Record<string, string> = {
  'gateway setup files --out whole': threeMachines,
  'gateway setup files': threeMachines,
  'gateway setup databases': databases,
  'cp -a deployment whole': threeMachines,
  'gateway migrate': 'docker-compose.yml',
  'gateway reconcile': operators,
  'gateway mpc': operators,
  'gateway wallet bind': operators,
  'gateway wallet list': operators,
  'gateway keys rotate kek': operators,
  'gateway keys rotate order': 'test/integration/mpc/cli-keys.test.ts',
  'gateway keys rotate secrets': 'test/integration/mfa/reseal.test.ts',
  'gateway temporal setup': 'docker-compose.yml',
  'gateway temporal set-current': workerVersions,
  'gateway temporal set-ramp': workerVersions,
  'gateway temporal versions': workerVersions,
  'gateway temporal pin': workerVersions,
  'gateway temporal unpin': workerVersions,
  'gateway orders show': onStack,
  'gateway ledger verify': onStack,
  'gateway audit verify': onStack,
  'gateway transfers retry': onStack,
  "docker compose run --rm --no-deps -T --entrypoint sh setup -euc '": 'test/unit/deploy/replaced-files.test.ts',
  // a private key, by the same words as in its code for operators of nodes
  'openssl ecparam -name prime256v1 -genkey': 'docs/deployment.md',
  // its code for operators of nodes, which three-machines.test.ts runs
  'openssl rand -hex 32': 'docs/deployment.md',
  'openssl genpkey -algorithm ed25519 -out jwt-new.pem': accessTokens,
  'openssl pkey -in jwt-old.pem -pubout': accessTokens,
  'npm run build': 'Dockerfile',
  'node scripts/sbom.mjs': 'test/unit/deploy/packages.test.ts',
  'npm sbom': 'scripts/sbom.mjs',
  'node scripts/healthy.cjs': 'docker-compose.yml',
  'node bin/gateway.js': 'docker-compose.yml',
};
/** What no test runs, by its first words, and why. */
const notRun: Record<string, string> = {
  ...notRunByDeploy,
  'npm run test:deploy': 'it is the test of the images itself, and not a part of `npm test`',
  'npm run dev': 'it runs until it is stopped: the stack of the e2e tests is the same',
  'gateway temporal …': 'a group of commands, each of which is named elsewhere',
  'docker build --target': 'needs an engine: `npm run test:deploy` builds the targets with buildah',
  'docker compose build': 'needs an engine: `npm run test:deploy` builds the images with buildah',
};

const read = (file: string): string => readFileSync(path.join(projectRoot, file), 'utf8');
const startsWith = (code: string, words: string): boolean =>
  code === words || code.startsWith(`${words} `) || code.startsWith(`${words}\n`);
const longest = (code: string, list: Record<string, string>): string | undefined =>
  Object.keys(list)
    .filter((words) => startsWith(code, words))
    .sort((a, b) => b.length - a.length)[0];
const blocks = documents.flatMap(shellBlocks);
const commands = documents.flatMap((document) =>
  inlineCommands(document, [
    'docker',
    'gateway',
    'npm',
    'node',
    'openssl',
    'psql',
    'curl',
    'cp',
    'git',
    'echo',
    'cat',
    'rm',
    'mv',
    'sh',
  ]),
);

it.each(blocks.map((block) => [`${block.document}, ${block.section}: ${block.code.split('\n')[0]}`, block] as const))(
  'a test runs %s',
  (_name, { code, who, document, section }) => {
    const isRunByDeploy = documentedBlocks().some((it) => it.code === code && it.document === document && it.section === section);
    if (isRunByDeploy || longest(code, notRun) !== undefined) return;
    const file = who === '' ? runBy[longest(code, runBy) ?? ''] : threeMachines;
    expect([code, file]).toEqual([code, expect.any(String)]);
    if (who !== '') expect(readFileSync(path.join(projectRoot, file ?? ''), 'utf8')).toContain(`commandsOf('${who}')`);
  },
);

it.each([...new Set(commands)])('a test runs `%s`, or a reason is given', (code) => {
  if (longest(code, notRun) !== undefined) return;
  const isRunByDeploy = documentedCommands().includes(code);
  const words = longest(code, runBy);
  expect([code, isRunByDeploy || words !== undefined]).toEqual([code, true]);
  if (words === undefined) return;
  const file = path.join(projectRoot, runBy[words] ?? '');
  const text = readFileSync(file, 'utf8');
  for (const word of words.split(' ').slice(1, 4))
    if (!word.startsWith('-')) expect([code, file, text.includes(word)]).toEqual([code, file, true]);
});

it('code in SQL is run by a test that reads it from the document', () => {
  const withSql = documents.filter((document) => read(document).includes('```sql'));
  expect(withSql).toEqual(['docs/deployment.md']);
  expect(read(withSql[0] ?? '').match(/```sql/g)?.length).toBe(1);
  expect(read(databases)).toContain("'docs/deployment.md'), 'utf8');\n  const [, code = ''] = /```sql");
});

it('the lists have nothing that the documents do not have', () => {
  const all = [...blocks.map(({ code }) => code), ...commands];
  for (const words of [...Object.keys(runBy), ...Object.keys(notRun)])
    expect([words, all.some((code) => startsWith(code, words))]).toEqual([words, true]);
  const lines = blocks.flatMap(({ code }) => code.split('\n'));
  for (const line of Object.keys(lineNotRun)) expect(lines).toContain(line);
  for (const file of Object.values(runBy)) expect([file, existsSync(path.join(projectRoot, file))]).toEqual([file, true]);
});

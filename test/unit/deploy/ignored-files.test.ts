import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';
import { inlineCommands, shellBlocks } from '../documents/shell-blocks';

/** What the code of these documents writes into the folder that it runs in, which may be the checkout, is neither committed nor in an image. */
const documents = ['docs/deployment.md', 'docs/upgrades.md', 'docs/keys.md', 'docs/jwt-keys.md'];
const ways = [
  / cp \S+ ([a-z]\w+)$/gm,
  // not within a container, whose paths begin with a slash; nor a placeholder
  /(?<![a-z>])>>? ?"?([\w$.{}][\w$.{}/-]*)/g,
  / -(?:key)?out "?([\w$.{}][\w$.{}/-]*)/g,
  / --out ([\w$.{}][\w$.{}/-]*)/g,
  /\bcp -a \S+ ([\w$.{}-]+)/g,
  /\bmv -f "?\S+?"? "?([\w$.{}-][\w$.{}/-]*)/g,
  / -v "\$PWD\/(\w+):/g,
  / -cf (?:\.\.\/)?([\w$][\w$.{}-]*)/g,
];

const code = documents.flatMap((document) => [
  ...shellBlocks(document).map((block) => block.code),
  ...inlineCommands(document, ['docker', 'gateway', 'openssl', 'cp', 'node']),
]);
/** The first part of each path: a file, or a folder with all that is in it. `$at` and `$0` are files within a container, `$next` is one of a machine. */
const written = new Set(
  code
    .flatMap((text) => ways.flatMap((way) => [...text.matchAll(way)].map(([, file = '']) => file)))
    .filter((file) => !['$at', '$0', '$next'].includes(file))
    .map((file) => file.replace(/\$\{?\w+\}?/g, 'x').replace(/\/.*$/, '')),
);

/** Patterns of both files are names, with `*` or in any folder; none takes another one back. */
const isIgnored = (name: string, list: string): boolean =>
  readFileSync(path.join(projectRoot, list), 'utf8')
    .split('\n')
    .map((line) => line.replace(/^(\*\*)?\//, '').replace(/\/$/, ''))
    .some((pattern) => new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`).test(name));

it('finds what the documents write', () =>
  expect([...written].sort()).toEqual([
    ...['.env', 'backup_cert', 'backup_key', 'clear.dump', 'database_password', 'database_url', 'deployment', 'extensions'],
    ...[
      'former_certs',
      'gateway.dump',
      'gateway.dump.new',
      'gateway.head',
      'gateway.head.new',
      'gateway.tar',
      'gateway_mpc_1.dump',
      'gateway_mpc_1.dump.new',
      'jwt-new.pem',
      'jwt-new.pub.pem',
      'jwt-old.pub.pem',
      'kek',
      'limits.json',
    ],
    ...[
      'mpc-node-1.csr',
      'new',
      'node_certs',
      'order_keys_all',
      'password',
      'received',
      'superuser.new',
      'tls_key',
      'whole',
      'x.crt',
      'x.dump',
      'x.dump.new',
    ],
    ...['x.secrets', 'x.secrets.new', 'x.tar'],
  ]));

it.each(['.gitignore', '.dockerignore'])('%s has all of it', (list) => {
  expect(readFileSync(path.join(projectRoot, list), 'utf8')).not.toMatch(/^!/m);
  for (const name of written) expect([name, isIgnored(name, list)]).toEqual([name, true]);
});

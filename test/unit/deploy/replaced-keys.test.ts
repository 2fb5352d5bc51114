import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { shellBlocks } from '../documents/shell-blocks';
import { CountedPrograms } from './counted-programs';

/**
 * The replacements of keys on one machine (docs/deployment.md), where one of their commands fails and all of it is repeated; `npm run test:deploy`
 * runs them with all processes. In place of the engine is one that runs its scripts on files of this test; what operators run writes down the files that it finds.
 */

let root: string;
let programs: CountedPrograms;
const inRoot = (...names: string[]) => path.join(root, ...names);
const read = (name: string) => readFileSync(inRoot(name), 'utf8').trim();

const nodes = ['mpc-node-1', 'mpc-node-2', 'mpc-node-3'];
const key = (digit: string) => digit.repeat(64);
/** What a deployment has, by part and file. */
const former: Record<string, string> = {
  'authoriser/order_key': 'first private key',
  ...Object.fromEntries([...nodes, 'operator', 'authoriser'].map((part) => [`${part}/order_keys`, 'first'])),
  ...Object.fromEntries(
    nodes.flatMap((node, index) => [
      [`${node}/kek`, key(String(index))],
      [`${node}/tls_key`, `tls ${node}`],
    ]),
  ),
  ...Object.fromEntries(nodes.map((node) => [`${node}/tls_cert`, `BEGIN\ncertificate of tls ${node}`])),
  ...Object.fromEntries(['api', 'operator'].map((part) => [`${part}/totp_secrets_key`, key('a')])),
  ...Object.fromEntries(['api', 'worker', 'operator'].map((part) => [`${part}/webhook_secrets_key`, key('b')])),
  'api/stored_answers_key': key('c'),
  'api/jwt_private_key': 'jwt first',
  'worker/temporal_key': 'temporal first',
  'api/temporal_key': 'temporal api',
  ...Object.fromEntries(
    ['server_key', 'system_worker_key', 'internode_key'].map((name) => [`temporal/${name}`, `of the ${name}`]),
  ),
};
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'replaced-keys-'));
  programs = new CountedPrograms(root, { docker, openssl }, ['docker', 'openssl', ...others]);
  for (const [name, content] of Object.entries(former)) {
    mkdirSync(path.dirname(inRoot('secrets', name)), { recursive: true });
    writeFileSync(inRoot('secrets', name), `${content}\n`, { mode: 0o600 });
  }
  cpSync(inRoot('secrets'), inRoot('former'), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** All as it was. */
function begin(): void {
  for (const name of ['secrets', 'checkout']) rmSync(inRoot(name), { recursive: true, force: true });
  cpSync(inRoot('former'), inRoot('secrets'), { recursive: true });
  mkdirSync(inRoot('checkout/new'), { recursive: true });
  writeFileSync(inRoot('used'), '');
}

const others = ['basename', 'cat', 'chmod', 'cp', 'date', 'grep', 'mv', 'rm', 'sed', 'sync', 'touch', 'wc'];
const docker = `#!/bin/bash
PATH=/usr/bin:/bin
case $* in
  'compose run --rm --no-deps -T --entrypoint sh setup -'*)
    arguments=("\${@:10}")
    exec /bin/sh "$9" "\${arguments[@]//\\/secrets/$ROOT/secrets}" ;;
  'compose run --rm --no-deps -T --entrypoint cat setup /secrets/'*) exec cat "$ROOT\${9}" ;;
  'compose run --rm --no-deps -T -v '*' gateway keys rotate order /new')
    for file in order-key-k2.pem order-keys-nodes-k2.json order-keys-all-k2.json; do
      [ ! -e "new/$file" ] || { echo "$file exists already" >&2; exit 1; }
      echo "$file" > "new/$file"
    done ;;
  'compose run --rm --no-deps -T -v '*' gateway keys rotate order /new --finish k2')
    [ ! -e new/order-keys-only-k2.json ] || exit 1
    echo order-keys-only-k2.json > new/order-keys-only-k2.json ;;
  'compose run --rm --no-deps -T mpc-'[12]' keys rotate kek') cat "$ROOT/secrets/mpc-node-\${6#mpc-}/kek" >> "$ROOT/used" ;;
  'compose run --rm --no-deps -T gateway keys rotate secrets') cat "$ROOT/secrets/operator/"*_secrets_key >> "$ROOT/used" ;;
  'compose run --rm --no-deps -T setup node bin/gateway.js setup files --out /secrets --renew node --yes')
    for node in mpc-node-1 mpc-node-2 mpc-node-3; do printf 'BEGIN\\ncertificate of %s\\n' "$(cat "$ROOT/secrets/$node/tls_key")" > "$ROOT/secrets/$node/tls_cert"; done ;;
  'compose run --rm --no-deps -T setup node bin/gateway.js setup files --out /secrets --renew temporal --yes' | *' --renew internode --yes') ;;
  'compose stop '*|'compose up -d --no-deps --wait '*) ;;
  *) echo "not known: $*" >&2; exit 1 ;;
esac
`;
/** A key is another one each time. */
const openssl = `#!/bin/bash
PATH=/usr/bin:/bin
made() { read -r n 2> /dev/null < "$ROOT/made"; echo $((n += 1)) > "$ROOT/made"; printf '%064d\\n' "$n"; }
case $* in
  'rand -hex 32') made ;;
  'genpkey -algorithm ed25519 -out '*) echo "jwt $(made)" > "$5" ;;
  'genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out '*) echo "ec $(made)" > "$7" ;;
  'pkey -in '*' -pubout') echo "public $(cat "$3")" ;;
  *) echo "not known: $*" >&2; exit 1 ;;
esac
`;

const blocks = shellBlocks('docs/deployment.md');
const codeOf = (section: string): string[] => blocks.filter((block) => block.section === section).map(({ code }) => code);
const [functions = 'exit 1'] = codeOf('New files with Docker Compose');
const run = (code: string, options: Parameters<CountedPrograms['run']>[2] = {}) =>
  programs.run(`${functions}\n${code}`, inRoot('checkout'), options);
const secret = (name: string) => read(`secrets/${name}`);
const secrets = () => Object.fromEntries(Object.keys(former).map((name) => [name, secret(name)]));
const inNew = () => readdirSync(inRoot('checkout/new')).sort();

it('the function `put` replaces a file by the script of a limits file', () => {
  const scriptOf = (code: string) => /setup -euc '([^]*?)' "\/secrets/.exec(code)?.[1]?.replace(/^ +/gm, '');
  const [, limits = ''] = codeOf('Limits of the signing nodes');
  expect(scriptOf(functions)).toBe(scriptOf(limits));
  expect(scriptOf(functions)).toContain('mv -f');
});

/** What holds when the code has run to its end, maybe only the second time. */
const ends: [string, number, () => void][] = [
  [
    'The order key',
    0,
    () => {
      expect(secret('mpc-node-1/order_keys')).toBe('order-keys-nodes-k2.json');
      for (const part of ['operator', 'authoriser']) expect(secret(`${part}/order_keys`)).toBe('order-keys-all-k2.json');
      expect(secret('authoriser/order_key')).toBe('order-key-k2.pem');
    },
  ],
  [
    'The `kek` of a node',
    0,
    () => {
      const [next = '', before = ''] = read('used').split('\n').at(-1)?.split(',') ?? [];
      // without the key of before its shares could not be opened, nor those of a restored database
      expect([before, read('checkout/new/mpc-node-1.kek.before')]).toEqual([key('0'), key('0')]);
      expect(secret('mpc-node-1/kek')).toBe(next);
      expect(next).toMatch(/^0{60}/);
      expect(inNew()).toEqual(['mpc-node-1.kek.before']);
      expect(secret('mpc-node-2/kek')).toBe(key('1'));
    },
  ],
  [
    'Keys of stored secrets in their files',
    0,
    () => {
      const next = secret('api/totp_secrets_key');
      expect([secret('operator/totp_secrets_key'), read('used').split('\n')]).toEqual([
        next,
        expect.arrayContaining([`${next},${key('a')}`]),
      ]);
      expect([read('checkout/new/totp_secrets_key.before'), inNew()]).toEqual([key('a'), ['totp_secrets_key.before']]);
    },
  ],
  [
    'Keys of stored secrets in their files',
    1,
    () => expect(secret('api/stored_answers_key').split(',')).toEqual([expect.stringMatching(/^0{60}/), key('c')]),
  ],
  [
    'The key of access tokens',
    0,
    () => {
      expect(secret('api/jwt_private_key')).toMatch(/^jwt 0/);
      expect(read('checkout/new/jwt_public_keys').split('\n')).toEqual([
        'public jwt first',
        `public ${secret('api/jwt_private_key')}`,
      ]);
      expect(statSync(inRoot('checkout/new/jwt_public_keys')).mode & 0o777).toBe(0o644);
    },
  ],
  [
    'The identity of a node',
    0,
    () => {
      expect(secret('mpc-node-1/tls_key')).toMatch(/^ec 0/);
      expect(secret('mpc-node-1/tls_cert')).toBe(`BEGIN\ncertificate of ${secret('mpc-node-1/tls_key')}`);
      // once, and not that of now
      expect(read('checkout/former_certs')).toBe('BEGIN\ncertificate of tls mpc-node-1');
      expect(statSync(inRoot('checkout/former_certs')).mode & 0o777).toBe(0o644);
      expect(inNew()).toEqual([]);
    },
  ],
  [
    'Keys of clients of Temporal',
    0,
    () => {
      expect(secret('worker/temporal_key')).toMatch(/^ec 0/);
      expect(inNew()).toEqual([]);
    },
  ],
  [
    'Keys of clients of Temporal',
    1,
    () => {
      const ofServer = ['server_key', 'system_worker_key', 'internode_key'].map((name) => secret(`temporal/${name}`));
      expect(ofServer).toEqual(Array(3).fill(expect.stringMatching(/^ec 0/)));
      expect(new Set(ofServer).size).toBe(3);
      expect(secret('worker/temporal_key')).toBe('temporal first');
      expect(inNew()).toEqual([]);
    },
  ],
];

/** One node in place of three, and one key of two: what is done for each is the same. */
const shortened = (code: string) =>
  code
    .replace('for node in mpc-node-1 mpc-node-2 mpc-node-3; do', 'for node in mpc-node-1; do')
    .replaceAll('for key in totp_secrets_key webhook_secrets_key; do', 'for key in totp_secrets_key; do')
    .replaceAll('  put new/webhook_secrets_key api worker operator\n', '');

it.each(ends)('%s, %i: wherever a command fails, all of it is repeated', (section, number, assertEnd) => {
  const code = shortened(codeOf(section)[number] ?? 'exit 1');
  begin();
  expect(run(code)).toBe(null);
  assertEnd();
  const commands = programs.count;
  expect(commands).toBeGreaterThan(5);
  for (const works of [false, true])
    for (let failing = 1; failing <= commands; failing += 1) {
      begin();
      const outcome = run(code, { failing, works });
      // a value that was read is right, although its program has failed; and the last command has done everything
      const isDone = outcome === null || (works && failing === commands);
      if (!isDone) expect([section, failing, works, run(code)]).toEqual([section, failing, works, null]);
      assertEnd();
    }
});

it.each([
  ['The `kek` of a node', 0, 'mpc-node-1.kek.before'],
  ['Keys of stored secrets in their files', 0, 'totp_secrets_key.before'],
])('%s: the former key is never overwritten', (section, number, file) => {
  const code = codeOf(section)[number] ?? 'exit 1';
  begin();
  expect(run(code)).toBe(null);
  const [before, now] = [read(`checkout/new/${file}`), secrets()];
  expect(run(code)).not.toBe(null);
  expect([read(`checkout/new/${file}`), secrets()]).toEqual([before, now]);
  rmSync(inRoot('checkout/new'), { recursive: true });
  mkdirSync(inRoot('checkout/new'));
  expect(run(code)).toBe(null);
});

it.each([
  ['The `kek` of a node', 'node=mpc-node-1\n  operator=mpc-1', 'node=mpc-node-2\n  operator=mpc-2', 'mpc-node-2/kek', key('1')],
  ['The identity of a node', 'node=mpc-node-1', 'node=mpc-node-2', 'mpc-node-2/tls_key', 'tls mpc-node-2'],
  ['Keys of clients of Temporal', 'process=worker', 'process=api', 'api/temporal_key', 'temporal api'],
])(
  '%s: where it was interrupted, and is run for another part, that one gets a key of its own',
  (section, one, other, file, was) => {
    const code = shortened(codeOf(section)[0] ?? 'exit 1');
    const forOther = code.replace(one, other);
    expect(forOther).not.toBe(code);
    begin();
    expect(run(code)).toBe(null);
    const commands = programs.count;
    const [, name = ''] = file.split('/');
    const own = file.replace(/^[^/]+/, name === 'temporal_key' ? 'worker' : 'mpc-node-1');
    for (let failing = 1; failing < commands; failing += 1) {
      begin();
      run(code, { failing });
      expect([failing, run(forOther)]).toEqual([failing, null]);
      expect([failing, run(code)]).toEqual([failing, null]);
      expect(secret(file)).not.toBe(was);
      expect(secret(file)).not.toBe(secret(own));
      if (name === 'kek') expect(read('checkout/new/mpc-node-2.kek.before')).toBe(was);
      if (name === 'tls_key')
        for (const node of ['mpc-node-1', 'mpc-node-2'])
          expect(read('checkout/former_certs')).toContain(`certificate of tls ${node}`);
    }
  },
);

it('the later steps leave the new keys alone', () => {
  begin();
  const [order, only] = codeOf('The order key');
  expect([run(order ?? ''), run(only ?? '')]).toEqual([null, null]);
  for (const node of nodes) expect(secret(`${node}/order_keys`)).toBe('order-keys-only-k2.json');
  expect(secret('operator/order_keys')).toBe('order-keys-all-k2.json');
  const [sealed, answers, aDayLater] = codeOf('Keys of stored secrets in their files');
  expect(run(sealed ?? '')).toBe(null);
  for (const part of ['api', 'worker', 'operator'])
    expect(secret(`${part}/webhook_secrets_key`)).toBe(secret('api/webhook_secrets_key'));
  expect(read('used').split('\n')).toContain(`${secret('api/webhook_secrets_key')},${key('b')}`);
  expect([run(answers ?? ''), run(aDayLater ?? '')]).toEqual([null, null]);
  expect(secret('api/stored_answers_key')).toMatch(/^0{60}\d{4}$/);
  const [tokens, later] = codeOf('The key of access tokens');
  expect([run(tokens ?? ''), run(later ?? '')]).toEqual([null, null]);
  expect(inNew()).toEqual(['stored_answers_key.before', 'totp_secrets_key.before', 'webhook_secrets_key.before']);
  expect(existsSync(inRoot('checkout/new/jwt_public_keys'))).toBe(false);
});

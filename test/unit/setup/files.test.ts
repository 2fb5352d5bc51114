import { createPrivateKey, X509Certificate } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { loadRegistry } from '../../../src/chains/registry';
import type { GatewayEnvironment } from '../../../src/chains/types';
import { getFamily } from '../../../src/chains/families';
import { certify, certifyAuthority, newCertificateKey } from '../../../src/cli/setup/certificates';
import { authorities, type Authority, setUpFiles } from '../../../src/cli/setup/deployment-files';
import { newEd25519Key } from '../../../src/cli/setup/new-secrets';
import { Identity } from '../../../src/mpc/identity';
import { NodeLimits } from '../../../src/mpc/limits';
import { newKeyPair } from '../../keys';

const registry = loadRegistry('sandbox', ['ethereum', 'base']);
const isRoot = process.getuid?.() === 0;

let root: string;
beforeEach(() => void (root = mkdtempSync(path.join(tmpdir(), 'setup-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

const deployment = () => ({ root, registry, environment: 'sandbox' as const });
const run = () => setUpFiles(deployment());
const file = (name: string) => path.join(root, name);
const read = (name: string) => readFileSync(file(name), 'utf8').trim();
/** As an operator who has replaced a file, with the owner and the mode that it had. */
function put(name: string, content: string): void {
  const { uid, gid } = statSync(file(name));
  rmSync(file(name));
  writeFileSync(file(name), content, { mode: 0o400 });
  if (isRoot) chownSync(file(name), uid, gid);
}
const everything = () =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((name) => [path.relative(root, name), readFileSync(name, 'utf8')]),
  );

describe('the files of a new deployment', () => {
  beforeEach(run);

  it('let nobody without a certificate call Temporal, nor its parts each other', () => {
    const { global } = parse(read('temporal/server.yaml')) as { global: { tls: Record<string, { server: object }> } };
    for (const [part, name] of [
      ['frontend', 'temporal_ca'],
      ['internode', 'internode_ca'],
    ] as const)
      expect(global.tls[part]?.server).toMatchObject({
        requireClientAuth: true,
        clientCaFiles: [expect.stringMatching(new RegExp(`/${name}$`))],
      });
  });

  it('can be read by the user of their process, and by nobody else', () => {
    const users: Record<string, number> = { postgres: 999, setup: 0 };
    for (const name of Object.keys(everything())) {
      const { mode, uid } = statSync(file(name));
      expect([name, (mode & 0o777).toString(8)]).toEqual([name, '400']);
      if (isRoot) expect([name, uid]).toEqual([name, users[name.split('/')[0] ?? ''] ?? 1000]);
    }
    for (const folder of readdirSync(root)) expect(statSync(file(folder)).mode & 0o777).toBe(0o700);
  });

  it('stay as they are when it runs again', async () => {
    const before = everything();
    expect(await run()).toEqual([]);
    expect(everything()).toEqual(before);
  });

  it('give each signing node an identity that it starts with, and limits', () => {
    for (const index of [1, 2, 3] as const) {
      const of = (name: string) => read(`mpc-node-${index}/${name}`);
      const files = { index, key: of('tls_key'), cert: of('tls_cert'), ca: of('tls_ca'), peerCerts: of('node_certs') };
      expect(() => new Identity(files)).not.toThrow();
      expect(NodeLimits.read(file(`mpc-node-${index}/limits.json`), { registry, getFamily })).toBeInstanceOf(NodeLimits);
    }
  });

  it('give no two processes the same secret but those that they share', () => {
    const urls = Object.entries(everything()).filter(([name]) => name.endsWith('/database_url'));
    expect(new Set(urls.map(([, url]) => new URL(url.trim()).password)).size).toBe(urls.length);
    const keks = [
      'api/totp_secrets_key',
      'api/webhook_secrets_key',
      'api/stored_answers_key',
      ...[1, 2, 3].map((i) => `mpc-node-${i}/kek`),
    ];
    expect(new Set(keks.map(read)).size).toBe(keks.length);
    expect(read('worker/webhook_secrets_key')).toBe(read('api/webhook_secrets_key'));
    expect(Object.keys(everything()).filter((name) => name.includes('order_key') && !name.includes('order_keys'))).toEqual([
      'authoriser/order_key',
    ]);
  });

  it('leave the keys of the authorities with the set-up', () => {
    const keys = Object.entries(everything()).filter(([name]) => name.endsWith('_ca_key'));
    expect(keys.map(([name]) => name.split('/')[0])).toEqual(['setup', 'setup', 'setup']);
    for (const [, key] of keys) expect(Object.values(everything()).filter((content) => content === key)).toHaveLength(1);
  });
});

describe('what is missing', () => {
  it('is made after an interrupted run, and fits what is there', async () => {
    await run();
    const whole = everything();
    // as if the run had ended in the middle: what was written last is not there
    for (const name of [
      'setup/made.json',
      'temporal/internode_cert',
      'worker/webhook_secrets_key',
      'mpc-node-3/kek',
      'api/node_certs',
    ])
      rmSync(file(name));
    writeFileSync(file('api/.totp_secrets_key.0011.new'), 'half');
    const written = await run();
    expect(written.sort()).toEqual(['api/node_certs', 'mpc-node-3/kek', 'temporal/internode_cert', 'worker/webhook_secrets_key']);
    expect(read('worker/webhook_secrets_key')).toBe(read('api/webhook_secrets_key'));
    expect(read('api/node_certs')).toBe(whole['api/node_certs']?.trim());
    const certificate = new X509Certificate(read('temporal/internode_cert'));
    expect(certificate.verify(new X509Certificate(read('temporal/internode_ca')).publicKey)).toBe(true);
    expect(readdirSync(file('api'))).not.toContain('.totp_secrets_key.0011.new');
  });

  it.each(['mpc-node-2/kek', 'authoriser/order_key', 'mpc-node-1/tls_key', 'api/totp_secrets_key', 'worker/database_url'])(
    'is not made again when something may depend on it: %s',
    async (name) => {
      await run();
      const lost = read(name);
      for (const [other, content] of Object.entries(everything())) if (content.trim() === lost) rmSync(file(other));
      await expect(run()).rejects.toThrow(`${file(name)} was made before and is missing now`);
    },
  );
});

describe('an authority that is renewed', () => {
  beforeEach(run);

  it.each(authorities)(
    'signs the certificates below it again, for the same keys, and nothing else changes: %s',
    async (renew) => {
      const before = everything();
      const written = await setUpFiles({ ...deployment(), renew });
      const after = everything();
      expect(Object.keys(after)).toEqual(Object.keys(before));
      expect(
        Object.keys(after)
          .filter((name) => after[name] !== before[name])
          .sort(),
      ).toEqual([...written].sort());
      // no key but its own
      expect(written.filter((name) => name.endsWith('_key'))).toEqual([`setup/${renew}_ca_key`]);
      expect(written.length).toBeGreaterThan(3);
      // all fit each other, each is valid for the same name and key, and belongs to the same user as before
      expect(await run()).toEqual([]);
      const keyOf = (text = '') => new X509Certificate(text).publicKey.export({ type: 'spki', format: 'pem' });
      for (const name of written.filter((it) => it.endsWith('_cert') && !it.startsWith('setup/')))
        expect([name, keyOf(after[name])]).toEqual([name, keyOf(before[name])]);
      if (isRoot) for (const name of written) expect(statSync(file(name)).uid).toBe(name.startsWith('setup/') ? 0 : 1000);
    },
  );

  it.each([
    ['temporal', 'api/temporal_key', 'api/temporal_cert', 'api/temporal_ca'],
    ['node', 'mpc-node-1/tls_key', 'mpc-node-1/tls_cert', 'mpc-node-1/tls_ca'],
  ] as const)(
    'withdraws a leaked certificate, and its key where another one is in its place by then: %s',
    async (renew, key, cert, ca) => {
      const leaked = new X509Certificate(read(cert));
      put(key, await newCertificateKey());
      await expect(run()).rejects.toThrow(cert);
      await setUpFiles({ ...deployment(), renew });
      expect(await run()).toEqual([]);
      const authority = new X509Certificate(read(ca));
      const renewed = new X509Certificate(read(cert));
      expect([leaked.verify(authority.publicKey), renewed.verify(authority.publicKey)]).toEqual([false, true]);
      expect(renewed.checkPrivateKey(createPrivateKey(read(key)))).toBe(true);
      expect(renewed.publicKey.equals(leaked.publicKey)).toBe(false);
    },
  );

  it('is noted with who has renewed it and why, after those before', async () => {
    const renewal = { by: 'an operator', stated_reason: 'it has leaked' };
    for (const renew of ['node', 'temporal'] as const) await setUpFiles({ ...deployment(), renew, renewal });
    expect(JSON.parse(read('setup/renewals.json'))).toEqual(
      ['node', 'temporal'].map((authority) => ({ at: expect.any(String) as string, authority, ...renewal })),
    );
    expect(await run()).toEqual([]);
  });

  it('may have expired, and takes the place of one that was renewed in part', async () => {
    const key = await newCertificateKey();
    put('setup/temporal_ca_key', key);
    put('setup/temporal_ca_cert', await certifyAuthority(key, 'custody-gateway Temporal'));
    await expect(run()).rejects.toThrow(/was not signed by the authority beside it/);
    await setUpFiles({ ...deployment(), renew: 'temporal' });
    expect(await run()).toEqual([]);
  });

  const renewAll = async () => {
    for (const renew of authorities) await setUpFiles({ ...deployment(), renew });
  };

  it('is renewed though others have expired with it, each in its turn', async () => {
    jest.useFakeTimers({
      now: Date.now() + 11 * 365 * 24 * 3600 * 1000,
      doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'],
    });
    try {
      await expect(run()).rejects.toThrow(/has expired/);
      await renewAll();
      expect(await run()).toEqual([]);
    } finally {
      jest.useRealTimers();
    }
  });

  it.each(authorities)('all are renewed again after the renewal of %s was interrupted', async (interrupted) => {
    const key = await newCertificateKey();
    put(`setup/${interrupted}_ca_key`, key);
    put(`setup/${interrupted}_ca_cert`, await certifyAuthority(key, 'interrupted'));
    await expect(run()).rejects.toThrow(/was not signed by the authority beside it/);
    await renewAll();
    expect(await run()).toEqual([]);
  });

  it.each(
    authorities.flatMap((renew) =>
      [
        ...['mpc-node-1/kek', 'mpc-node-1/tls_key', 'mpc-node-3/tls_key', 'worker/temporal_key', 'temporal/internode_key'],
        ...authorities.filter((other) => other !== renew).map((other) => `setup/${other}_ca_key`),
      ].map((lost) => [renew, lost] as const),
    ),
  )('replaces nothing where another secret was lost: %s, %s', async (renew, lost) => {
    rmSync(file(lost));
    const before = everything();
    await expect(setUpFiles({ ...deployment(), renew })).rejects.toThrow(`${file(lost)} was made before and is missing now`);
    expect(everything()).toEqual(before);
  });
});

describe('the environment that an installation was made for', () => {
  const start = (environment: GatewayEnvironment, renew?: Authority) =>
    setUpFiles({ root, environment, registry: loadRegistry(environment, ['ethereum', 'base']), renew });
  const environments: GatewayEnvironment[] = ['local', 'sandbox', 'production'];
  const others = environments.flatMap((made) =>
    environments.filter((started) => started !== made).map((started) => [made, started] as const),
  );

  it.each(others)('stays: made as %s, it is refused as %s with both names, and nothing changes', async (made, started) => {
    await start(made);
    const before = everything();
    const error = await start(started).catch((it: Error) => it);
    expect((error as Error).message).toBe(
      `${file('setup/environment')} says that the keys and databases of this installation are of GATEWAY_ENV=${made}, and now GATEWAY_ENV is ` +
        `${started}: start it with GATEWAY_ENV=${made}, or begin another installation in a folder of another name (docs/deployment.md)`,
    );
    await expect(start(started, 'node')).rejects.toThrow(/GATEWAY_ENV is/);
    expect(everything()).toEqual(before);
    expect(await start(made)).toEqual([]);
  });

  it('is stored at the next start of an installation that has none, and holds from then on', async () => {
    await start('sandbox');
    rmSync(file('setup/environment'));
    const made = (JSON.parse(read('setup/made.json')) as string[]).filter((name) => name !== 'setup/environment');
    put('setup/made.json', JSON.stringify(made));
    expect(await start('sandbox')).toEqual(['setup/environment']);
    await expect(start('production')).rejects.toThrow(/GATEWAY_ENV=sandbox/);
  });

  it('is not stored by a start that has failed for another reason', async () => {
    await start('sandbox');
    rmSync(file('setup/environment'));
    const made = (JSON.parse(read('setup/made.json')) as string[]).filter((name) => name !== 'setup/environment');
    put('setup/made.json', JSON.stringify(made));
    const kek = read('mpc-node-1/kek');
    put('mpc-node-1/kek', 'short');
    await expect(start('production')).rejects.toThrow(/mpc-node-1\/kek/);
    put('mpc-node-1/kek', kek);
    expect(await start('sandbox')).toEqual(['setup/environment']);
  });

  it('is not made anew when it was lost', async () => {
    await start('local');
    rmSync(file('setup/environment'));
    await expect(start('production')).rejects.toThrow(`${file('setup/environment')} was made before and is missing now`);
  });
});

describe('what is there is refused, with its name', () => {
  beforeEach(run);
  const kek = (digits: string) => digits.repeat(64 / digits.length);
  const weak: [string, string, () => string, RegExp][] = [
    ['a key of one character', 'mpc-node-1/kek', () => kek('a'), /same character/],
    ['a key of two characters', 'api/stored_answers_key', () => kek('01'), /only 2 different/],
    ['a short key', 'api/stored_answers_key', () => 'abcdef01', /not 32 bytes in hex/],
    ['a weak key beside a good one', 'api/stored_answers_key', () => `${read('mpc-node-1/kek')},${kek('f')}`, /same character/],
    ['an empty file', 'authoriser/order_key', () => '', /not an Ed25519 private key/],
    [
      'a key of another kind',
      'api/jwt_private_key',
      () => newKeyPair('P-256').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      /not an Ed25519 private key/,
    ],
    ['a short password', 'postgres/password', () => 'hunter2', /too short: it has 7 characters/],
    ['a password with other characters', 'postgres/password', () => "x'; drop role gateway_owner --abcdefgh", /other characters/],
    ['a password that is not the one beside it', 'postgres/password', () => 'b7f3a9d2c6e1b7f3a9d2c6e1b7f3a9d2', /differs from/],
    ['a url of another login', 'api/database_url', () => read('worker/database_url'), /not a url of the login gateway_api_login/],
    ['keys of another authoriser', 'mpc-node-2/order_keys', () => '{"keys":[]}', /JWKS/],
    ['certificates of other nodes', 'api/node_certs', () => read('temporal/temporal_ca'), /certificates of this deployment/],
    ['a configuration with another password', 'temporal/server.yaml', () => 'persistence: {}', /another password/],
  ];

  it.each(weak)('%s (%s)', async (_what, name, content, expected) => {
    put(name, content());
    const before = everything();
    const error = await run().catch((it: Error) => it);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toMatch(expected);
    expect((error as Error).message).toContain(root);
    expect(everything()).toEqual(before);
  });

  it('a message never contains a secret', async () => {
    const secret = 'abababababababababababababababababab';
    put('postgres/password', secret);
    await expect(run()).rejects.toThrow(expect.objectContaining({ message: expect.not.stringContaining(secret) }));
  });

  it.each([0o444, 0o404, 0o420, 0o644])('a file that others may read or change: mode %o', async (mode) => {
    chmodSync(file('api/jwt_private_key'), mode);
    await expect(run()).rejects.toThrow(`${file('api/jwt_private_key')} has the mode ${mode.toString(8)}`);
  });

  it('a link', async () => {
    rmSync(file('api/jwt_private_key'));
    symlinkSync(file('authoriser/order_key'), file('api/jwt_private_key'));
    await expect(run()).rejects.toThrow(/jwt_private_key is not a regular file/);
  });

  (isRoot ? it : it.skip)('a file of another user (checked with the rights of root)', async () => {
    chownSync(file('api/jwt_private_key'), 65_534, 65_534);
    await expect(run()).rejects.toThrow(/belongs to the user 65534, and its process runs as 1000/);
  });

  describe('a certificate', () => {
    const name = 'worker/temporal_cert';
    const authority = () => ({ key: read('setup/temporal_ca_key'), cert: read('setup/temporal_ca_cert') });

    it('that has expired', async () => {
      jest.useFakeTimers({
        now: Date.now() + 11 * 365 * 24 * 3600 * 1000,
        doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'],
      });
      try {
        await expect(run()).rejects.toThrow(/ca_cert has expired/);
      } finally {
        jest.useRealTimers();
      }
    });
    it('of another key', async () => {
      put(name, await certify(await newCertificateKey(), { commonName: 'worker' }, authority()));
      await expect(run()).rejects.toThrow(`${file(name)} does not belong to the private key beside it`);
    });
    it('of another authority', async () => {
      const key = await newCertificateKey();
      const other = { key, cert: await certifyAuthority(key, 'custody-gateway Temporal') };
      put(name, await certify(read('worker/temporal_key'), { commonName: 'worker' }, other));
      await expect(run()).rejects.toThrow(`${file(name)} was not signed by the authority beside it`);
    });
    it('of another process', async () => {
      put(name, await certify(read('worker/temporal_key'), { commonName: 'authoriser' }, authority()));
      await expect(run()).rejects.toThrow(`${file(name)} is not for CN=worker`);
    });
    it('without the name that the server is reached by', async () => {
      put('temporal/server_cert', await certify(read('temporal/server_key'), { commonName: 'temporal' }, authority()));
      await expect(run()).rejects.toThrow(/server_cert is not valid for temporal, localhost, 127.0.0.1/);
    });
    it('that is none', async () => {
      put(name, newEd25519Key());
      await expect(run()).rejects.toThrow(`${file(name)} is not a PEM certificate`);
    });
  });
});

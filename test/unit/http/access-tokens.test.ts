import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findOnPath } from '../../../dev/binaries';
import { AccessTokens } from '../../../src/auth/tokens';
import { newId } from '../../../src/platform/ids';
import { readConfig } from '../../../src/platform/config';
import { newKeyPair } from '../../keys';
import { shellBlocks } from '../documents/shell-blocks';

const ed25519 = () => {
  const { publicKey, privateKey } = newKeyPair('ed25519');
  return {
    public: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    private: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
};
const rsa = newKeyPair('rsa');
const settings = { privateKey: ed25519().private, issuer: 'i', audience: 'a', ttlSeconds: 60 };
const create = (changes: object) => AccessTokens.create({ ...settings, ...changes });

test.each<[string, string]>([
  ['no PEM', 'x'],
  ['a private key', ed25519().private],
  ['an RSA key', rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()],
  ['a broken key among good ones', `${ed25519().public}${ed25519().public.replace(/M/, '!')}`],
  ['text between keys', `${ed25519().public} and ${ed25519().public}`],
  ['eleven keys', Array.from({ length: 11 }, () => ed25519().public).join('')],
])('JWT_PUBLIC_KEYS with %s is a configuration error that does not quote it', async (_, publicKeys) => {
  const refused = create({ publicKeys });
  await expect(refused).rejects.toMatchObject({
    name: 'ConfigError',
    message: expect.stringMatching(/^JWT_PUBLIC_KEYS must be/),
  });
  await expect(refused).rejects.not.toMatchObject({ message: expect.stringContaining(publicKeys.slice(30, 60) || publicKeys) });
});

test('accepts several public keys with any text between them', async () => {
  const others = [ed25519(), ed25519()];
  const tokens = await create({ publicKeys: `\n${others.map((key) => key.public.replaceAll('\n', '\r\n')).join('\n\n')}\n` });
  const caller = { clientId: newId(), userId: newId(), keyId: newId() };
  for (const { private: privateKey } of [{ private: settings.privateKey }, ...others])
    expect(await tokens.verify(await (await create({ privateKey })).issue(caller))).toEqual(caller);
  const stranger = await (await create({ privateKey: ed25519().private })).issue(caller);
  await expect(tokens.verify(stranger)).rejects.toMatchObject({ code: 'unauthorized' });
});

test('accepts tokens of a process whose clock is slightly ahead', async () => {
  const tokens = await create({});
  const caller = { clientId: newId(), userId: newId(), keyId: newId() };
  const real = Date.now();
  const clock = jest.spyOn(Date, 'now');
  try {
    clock.mockReturnValue(real + 3_000);
    const token = await tokens.issue(caller);
    clock.mockReturnValue(real - 10_000);
    await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'unauthorized' });
    clock.mockReturnValue(real);
    expect(await tokens.verify(token)).toEqual(caller);
  } finally {
    clock.mockRestore();
  }
});

test('a token that was accepted before is refused once it has expired', async () => {
  const tokens = await create({});
  const caller = { clientId: newId(), userId: newId(), keyId: newId() };
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  try {
    const token = await tokens.issue(caller);
    expect([await tokens.verify(token), await tokens.verify(token)]).toEqual([caller, caller]);
    jest.setSystemTime(Date.now() + (settings.ttlSeconds + 1) * 1_000);
    await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'unauthorized' });
  } finally {
    jest.useRealTimers();
  }
});

(findOnPath('openssl') ? test : test.skip)(
  'the commands of docs/jwt-keys.md replace the key while processes before and after each step run side by side (skipped where openssl is not installed)',
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'jwt-keys-'));
    try {
      const file = (name: string) => path.join(folder, name);
      const [make, keep] = shellBlocks('docs/jwt-keys.md').map(({ code }) => code);
      const shell = (code = 'false') => execFileSync('bash', ['-euo', 'pipefail', '-c', code], { cwd: folder, stdio: 'pipe' });
      /** A process, with the variables that the document names in this step. */
      const start = (privateKey: string, publicKeys?: string) => {
        const env = {
          JWT_PRIVATE_KEY_FILE: file(privateKey),
          ...(publicKeys !== undefined && { JWT_PUBLIC_KEYS_FILE: file(publicKeys) }),
        };
        const config = readConfig(['JWT_PRIVATE_KEY', 'JWT_PUBLIC_KEYS'], env);
        return create({ privateKey: config.JWT_PRIVATE_KEY, publicKeys: config.JWT_PUBLIC_KEYS });
      };
      writeFileSync(file('jwt-old.pem'), ed25519().private);
      shell(make);
      expect(statSync(file('jwt-new.pem')).mode & 0o777).toBe(0o600);
      const steps = [await start('jwt-old.pem'), await start('jwt-old.pem', 'jwt-new.pub.pem')];
      shell(keep);
      steps.push(await start('jwt-new.pem', 'jwt-old.pub.pem'), await start('jwt-new.pem'));
      const caller = { clientId: newId(), userId: newId(), keyId: newId() };
      for (const [index, before] of steps.entries()) {
        const after = steps[index + 1];
        if (!after) continue;
        // the last step comes once all tokens of the old key have expired
        if (index < 2) expect(await after.verify(await before.issue(caller))).toEqual(caller);
        expect(await before.verify(await after.issue(caller))).toEqual(caller);
      }
      const old = await steps[0]?.issue(caller);
      await expect(steps[3]?.verify(old ?? '')).rejects.toMatchObject({ code: 'unauthorized' });
      expect(readFileSync(file('jwt-new.pub.pem'), 'utf8')).not.toContain('PRIVATE');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

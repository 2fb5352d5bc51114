import { AccessTokens } from '../../../src/auth/tokens';
import { newId } from '../../../src/platform/ids';
import { newKeyPair } from '../../keys';

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

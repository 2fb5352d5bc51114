import { isPublic, type ResolvedAddress, TargetRefused, TargetGuard } from '../../../src/webhooks/ssrf-guard';

const resolveTo =
  (...addresses: string[]) =>
  () =>
    Promise.resolve(addresses.map((address): ResolvedAddress => ({ address, family: address.includes(':') ? 6 : 4 })));
const publicOnly = (...addresses: string[]) => TargetGuard.publicOnly(resolveTo(...addresses));

const refusal = async (targets: TargetGuard, url: string): Promise<string | null> => {
  try {
    await targets.resolveTarget(targets.parse(url), AbortSignal.timeout(5_000));
    return null;
  } catch (error) {
    if (error instanceof TargetRefused) return error.kind;
    throw error;
  }
};

test.each([
  '127.0.0.1',
  '127.1',
  '127.255.255.254',
  '0.0.0.0',
  '0',
  '10.0.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '0177.0.0.1',
  '0x7f.0.0.1',
  '0x7f000001',
  '2130706433',
  '①②⑦.⓪.⓪.①',
  '[::]',
  '[::1]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::808:808]',
  '[2002:7f00:1::]',
  '[2002:a00:1::1]',
  '[2001:0:4136:e378:8000:63bf:80ff:fffe]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[100::1]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[5f00::1]',
])('https://%s/ is no target', async (host) => {
  // the resolver would return a public address: a literal must not be resolved
  expect(await refusal(publicOnly('93.184.215.14'), `https://${host}/`)).toBe('blocked_address');
});

test.each(['93.184.215.14', '[2606:2800:21f:cb07:6820:80da:af6b:8b2c]', '[::ffff:93.184.215.14]', '[64:ff9b::5db8:d70e]'])(
  'https://%s/ is one',
  async (host) => {
    expect(await refusal(publicOnly(), `https://${host}/`)).toBeNull();
  },
);

test.each([
  ['localhost', ['127.0.0.1', '::1']],
  ['a name of a private address', ['10.1.2.3']],
  ['a name of a public and a private address', ['93.184.215.14', '10.1.2.3']],
  ['a name of a mapped loopback address', ['::ffff:127.0.0.1']],
  ['a name of the cloud’s metadata service', ['169.254.169.254']],
  ['a name of something that is no address', ['metadata']],
] as const)('%s is no target', async (_, addresses) => {
  expect(await refusal(publicOnly(...addresses), 'https://hooks.example.com/')).toBe('blocked_address');
});

test('localhost is resolved by DNS like any name, and is never public', async () => {
  expect(await refusal(TargetGuard.publicOnly(), 'https://localhost/')).toMatch(/dns|blocked_address/);
});

test('a name that first resolves to a public and later to a private address is refused later', async () => {
  const answers = [['93.184.215.14'], ['127.0.0.1']];
  const targets = TargetGuard.publicOnly(() => resolveTo(...(answers.shift() ?? []))());
  expect(await refusal(targets, 'https://rebind.example.com/')).toBeNull();
  expect(await refusal(targets, 'https://rebind.example.com/')).toBe('blocked_address');
});

test('a name without addresses, or that cannot be resolved, is refused', async () => {
  expect(await refusal(publicOnly(), 'https://hooks.example.com/')).toBe('dns');
  expect(
    await refusal(
      TargetGuard.publicOnly(() => Promise.reject(new Error('SERVFAIL'))),
      'https://hooks.example.com/',
    ),
  ).toBe('dns');
});

test.each([
  'hooks.example.com',
  '/hooks',
  'http://hooks.example.com/',
  'ftp://hooks.example.com/',
  'file:///etc/passwd',
  'https://user:pass@hooks.example.com/',
  'https://user@hooks.example.com/',
  'https://hooks.example.com/#fragment',
  'https://hooks.example.com:22/',
  'https://hooks.example.com:80/',
  `https://hooks.example.com/${'a'.repeat(2048)}`,
  'https://hooks.example.com:99999/',
])('%.60s is no url to call', async (url) => {
  expect(await refusal(publicOnly('93.184.215.14'), url)).toBe('bad_url');
});

test.each(['https://hooks.example.com/', 'https://hooks.example.com:443/', 'https://hooks.example.com:8443/a?b=c'])(
  '%s may be called',
  async (url) => {
    expect(await refusal(publicOnly('93.184.215.14'), url)).toBeNull();
  },
);

test('on a developer’s machine http and local addresses are allowed, credentials are not', async () => {
  const targets = TargetGuard.local();
  expect(await refusal(targets, 'http://127.0.0.1:3000/')).toBeNull();
  expect(await refusal(targets, 'http://localhost/')).toBeNull();
  expect(await refusal(targets, 'http://user:pass@127.0.0.1/')).toBe('bad_url');
  expect(await refusal(targets, 'file:///etc/passwd')).toBe('bad_url');
});

test('an address with a zone names an interface of this machine', () => {
  expect(isPublic('2606:4700::1111%eth0')).toBe(false);
});

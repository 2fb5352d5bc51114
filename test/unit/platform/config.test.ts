import { readFileSync } from 'node:fs';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ConfigError, readConfig } from '../../../src/platform/config';
import { environmentExample } from '../../../src/platform/environment-example';

const secret = 'not-hex-but-secret';

test.each([
  ['a missing variable', {}, 'GATEWAY_ENV', /^GATEWAY_ENV is required/],
  ['one that is none of the choices', { GATEWAY_ENV: 'staging' }, 'GATEWAY_ENV', /^GATEWAY_ENV must be one of/],
  ['one that is no number', { DATABASE_POOL_SIZE: 'many' }, 'DATABASE_POOL_SIZE', /^DATABASE_POOL_SIZE must be a number/],
  ['a list of another form', { CHAINS: 'ethereum;base' }, 'CHAINS', /^CHAINS does not have the required form/],
  [
    'a secret file that is not there',
    { MPC_NODE_KEK_FILE: '/does/not/exist' },
    'MPC_NODE_KEK',
    /^MPC_NODE_KEK_FILE cannot be read/,
  ],
] as const)('%s is named', (_, env, name, message) => {
  expect(() => readConfig([name], env)).toThrow(ConfigError);
  expect(() => readConfig([name], env)).toThrow(message);
});

test.each(['MPC_NODE_KEK', 'DATABASE_URL', 'MPC_NODE_PEERS'] as const)(
  'a malformed %s is not repeated in the message',
  (name) => {
    try {
      readConfig([name], { [name]: secret });
    } catch (error) {
      expect((error as Error).message).not.toContain(secret);
      return;
    }
    throw new Error('accepted');
  },
);

test('a secret comes from its file', () => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'config-')), 'kek');
  writeFileSync(file, `${'ab'.repeat(32)}\n`);
  expect(readConfig(['MPC_NODE_KEK'], { MPC_NODE_KEK_FILE: file }).MPC_NODE_KEK).toBe('ab'.repeat(32));
});

test('.env.example documents every variable (npm run env:example)', () => {
  expect(readFileSync(path.resolve(__dirname, '../../../.env.example'), 'utf8')).toBe(environmentExample());
});

test('a settlement is waited for as long as docs/x402.md says, unless it is set: the tests of payments set a longer time', () => {
  const { X402_SETTLE_WAIT_MS: wait, X402_SETTLE_WAIT_V1_MS: ofVersionOne } = readConfig(
    ['X402_SETTLE_WAIT_MS', 'X402_SETTLE_WAIT_V1_MS'],
    {},
  );
  const document = readFileSync(path.resolve(__dirname, '../../../docs/x402.md'), 'utf8');
  expect(document).toContain(
    `${wait / 1000} seconds (\`X402_SETTLE_WAIT_MS\`), in version 1 ${ofVersionOne / 1000} (\`X402_SETTLE_WAIT_V1_MS\`)`,
  );
});

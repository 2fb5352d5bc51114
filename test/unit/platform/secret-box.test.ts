import { randomBytes } from 'node:crypto';
import { ConfigError } from '../../../src/platform/config';
import { SecretBox } from '../../../src/platform/secret-box';
import { createSecretBoxes } from '../../../src/processes/secret-boxes';

const newKey = () => randomBytes(32).toString('hex');

test('a secret of one purpose cannot be decrypted with the key of another', () => {
  const boxes = createSecretBoxes({ TOTP_SECRETS_KEY: newKey(), WEBHOOK_SECRETS_KEY: newKey(), STORED_ANSWERS_KEY: newKey() });
  const sealed = boxes.totp.seal('secret', 'totp:1');
  expect(boxes.totp.open(sealed, 'totp:1')).toBe('secret');
  expect(() => boxes.webhooks.open(sealed, 'totp:1')).toThrow('WEBHOOK_SECRETS_KEY');
  expect(() => boxes.answers.open(sealed, 'totp:1')).toThrow('STORED_ANSWERS_KEY');
});

test.each([
  ['TOTP_SECRETS_KEY', 'WEBHOOK_SECRETS_KEY'],
  ['TOTP_SECRETS_KEY', 'STORED_ANSWERS_KEY'],
  ['WEBHOOK_SECRETS_KEY', 'STORED_ANSWERS_KEY'],
])('%s and %s must not share a key, not even one that is being replaced', (one, other) => {
  const keys = { TOTP_SECRETS_KEY: newKey(), WEBHOOK_SECRETS_KEY: newKey(), STORED_ANSWERS_KEY: newKey() };
  const shared = newKey();
  const config = { ...keys, [one]: shared, [other]: `${newKey()},${shared}` };
  expect(() => createSecretBoxes(config)).toThrow(ConfigError);
  expect(() => createSecretBoxes(config)).toThrow(`${one} and ${other} must be different keys`);
});

test('a malformed key is named by its variable and not repeated', () => {
  expect(() => new SecretBox('short', 'TOTP_SECRETS_KEY')).toThrow(/^TOTP_SECRETS_KEY must be 32 bytes in hex/);
});

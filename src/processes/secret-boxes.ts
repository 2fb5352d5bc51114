import type { Config } from '../platform/config';
import { SecretBox } from '../platform/secret-box';

/** What the API keeps sealed in the database, each under a key of its own. */
export interface SecretBoxes {
  totp: SecretBox;
  webhooks: SecretBox;
  /** Stored answers of idempotent requests that contain a secret. */
  answers: SecretBox;
}

export const secretKeyVariables = ['TOTP_SECRETS_KEY', 'WEBHOOK_SECRETS_KEY', 'STORED_ANSWERS_KEY'] as const;

/** @throws ConfigError when a key is malformed or serves two purposes. */
export function createSecretBoxes(config: Config<(typeof secretKeyVariables)[number]>): SecretBoxes {
  const [totp, webhooks, answers] = [
    new SecretBox(config.TOTP_SECRETS_KEY, 'TOTP_SECRETS_KEY'),
    new SecretBox(config.WEBHOOK_SECRETS_KEY, 'WEBHOOK_SECRETS_KEY'),
    new SecretBox(config.STORED_ANSWERS_KEY, 'STORED_ANSWERS_KEY'),
  ];
  totp.assertOtherKeys(webhooks);
  totp.assertOtherKeys(answers);
  webhooks.assertOtherKeys(answers);
  return { totp, webhooks, answers };
}

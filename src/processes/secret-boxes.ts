import type { Config } from '../platform/config';
import { SecretBox } from '../platform/secret-box';

/** Encryption of the secrets that the API stores, with a separate key for each purpose. */
export interface SecretBoxes {
  totp: SecretBox;
  webhooks: SecretBox;
  /** Responses that contain a secret, stored for repeated requests. */
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

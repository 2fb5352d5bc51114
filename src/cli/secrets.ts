import { readConfig } from '../platform/config';
import { SecretBox } from '../platform/secret-box';

/** Called only by commands that need the key. @throws ConfigError when the variable is missing or malformed. */
export const openBox = (variable: 'TOTP_SECRETS_KEY' | 'WEBHOOK_SECRETS_KEY'): SecretBox =>
  new SecretBox(readConfig([variable])[variable], variable);

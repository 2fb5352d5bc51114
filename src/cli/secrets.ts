import type { Command } from 'commander';
import { resealSecrets } from './reseal-secrets';
import { readConfig } from '../platform/config';
import { SecretBox } from '../platform/secret-box';
import type { Run } from './run';
import { printRow } from './output';

/** Called only by commands that need the key. @throws ConfigError when the variable is missing or malformed. */
export const openBox = (variable: 'TOTP_SECRETS_KEY' | 'WEBHOOK_SECRETS_KEY'): SecretBox =>
  new SecretBox(readConfig([variable])[variable], variable);

/** secrets */
export function addSecretCommands(program: Command, run: Run): void {
  program
    .command('secrets')
    .description('encrypted secrets in the database')
    .command('reseal')
    .description('encrypt TOTP and webhook secrets with the first key of their variables, so that the old keys can be removed')
    .action(
      run(async ({ database, json }) => {
        const boxes = { totp: openBox('TOTP_SECRETS_KEY'), webhooks: openBox('WEBHOOK_SECRETS_KEY') };
        printRow({ resealed: await resealSecrets(database, boxes) }, json);
      }),
    );
}

import type { Command } from 'commander';
import { resealSecrets } from './reseal-secrets';
import { readConfig } from '../platform/config';
import { SecretBox } from '../platform/secret-box';
import type { Run } from './run';
import { printRow } from './output';

/** Called only by commands that need the key. @throws ConfigError when SECRETS_KEY is missing or malformed. */
export const openBox = (): SecretBox => new SecretBox(readConfig(['SECRETS_KEY']).SECRETS_KEY);

/** secrets */
export function addSecretCommands(program: Command, run: Run): void {
  program
    .command('secrets')
    .description('encrypted secrets in the database')
    .command('reseal')
    .description('encrypt all of them with the first key of SECRETS_KEY, so that the old key can be removed')
    .action(run(async ({ database, json }) => printRow({ resealed: await resealSecrets(database, openBox()) }, json)));
}

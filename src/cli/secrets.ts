import type { Command } from 'commander';
import { resealSecrets } from './reseal-secrets';
import { readConfig } from '../platform/config';
import { SecretBox } from '../platform/secret-box';
import type { Run } from './run';
import { printRow } from './output';

/** Read by the commands that need it only. @throws ConfigError when SECRETS_KEY is missing or malformed. */
export const openBox = (): SecretBox => new SecretBox(readConfig(['SECRETS_KEY']).SECRETS_KEY);

/** secrets */
export function addSecretCommands(program: Command, run: Run): void {
  program
    .command('secrets')
    .description('secrets that lie sealed in the database')
    .command('reseal')
    .description('seal all of them under the first key of SECRETS_KEY, so that the old one can go')
    .action(run(async ({ database, json }) => printRow({ resealed: await resealSecrets(database, openBox()) }, json)));
}

import 'reflect-metadata';
import { rpcUrlsVariable } from '../../src/chains/config';
import { loadRegistry } from '../../src/chains/registry';
import { entities } from '../../src/entities';
import { readConfig } from '../../src/platform/config';
import { createDatabase } from '../../src/platform/database';
import { seedClients, seedPolicies } from '../clients';
import { writeJson } from '../files';

const folder = '/var/lib/try';

/**
 * `docker compose --env-file try.env run --rm first-client`: makes the first client, the same one each time, and prints what a shell
 * needs to use the API at the port that the service names. Also writes what the faucet reads.
 */
async function main(): Promise<void> {
  const port = Number(process.argv[2]);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error('usage: node dist/dev/try/client.js <port of the API>');
  const config = readConfig(['CHAINS', 'DATABASE_OWNER_URL', 'TOTP_SECRETS_KEY']);
  const chains = config.CHAINS.split(',');
  const registry = loadRegistry('local', chains);
  const url = config.DATABASE_OWNER_URL;
  if (url === undefined) throw new Error('DATABASE_OWNER_URL is required');
  const database = createDatabase({ url, poolSize: 2, applicationName: 'gateway-first-client', entities });
  await database.initialize();
  try {
    const clients = await seedClients(database, folder, config.TOTP_SECRETS_KEY);
    await seedPolicies(database, clients, registry.all);
    const local = registry.all.map((chain) => [
      chain.name,
      { family: chain.family, rpc: process.env[rpcUrlsVariable(chain.name)], faucet: true },
    ]);
    writeJson(`${folder}/stack.json`, { chains: Object.fromEntries(local) as object });
    const [first] = clients;
    if (!first) throw new Error('there is no client');
    console.log(`base=http://127.0.0.1:${port}/api/v1\nkey=${first.api_key}\nsecret=${first.api_secret}`);
  } finally {
    await database.destroy();
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
});

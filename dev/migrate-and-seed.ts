import { migrations } from '../migrations';
import type { ChainRegistry } from '../src/chains/registry';
import { entities } from '../src/entities';
import { createDatabase } from '../src/platform/database';
import { type DevClient, seedClients, seedPolicies } from './clients';

/** The gateway's tables, and the clients of a dev stack with their policies; the same clients at every start. */
export async function migrateAndSeed(url: string, secrets: string, { all }: ChainRegistry): Promise<DevClient[]> {
  const database = createDatabase({
    url,
    poolSize: 2,
    applicationName: 'gateway-dev',
    entities,
    migrations,
    statementTimeoutMs: 180_000,
  });
  await database.initialize();
  try {
    await database.runMigrations({ transaction: 'each' });
    const clients = await seedClients(database, secrets);
    await seedPolicies(database, clients, all);
    return clients;
  } finally {
    await database.destroy();
  }
}

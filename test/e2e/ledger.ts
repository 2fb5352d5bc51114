import { entities } from '../../src/entities';
import { verifyLedger } from '../../src/ledger/verify';
import { createDatabase } from '../../src/platform/database';
import { stack } from '../stack/client';

/** What `gateway ledger verify` would print. */
export async function ledgerDifferences(): Promise<unknown[]> {
  const database = await createDatabase({
    url: stack().postgres.url,
    poolSize: 2,
    applicationName: 'test',
    entities,
  }).initialize();
  try {
    return await verifyLedger(database.manager);
  } finally {
    await database.destroy();
  }
}

import { verifyLedger } from '../../src/ledger/verify';
import { stack } from '../stack/client';
import { openDatabase } from '../stack/database';

/** What `gateway ledger verify` would print. */
export async function ledgerDifferences(): Promise<unknown[]> {
  const database = await openDatabase(stack().postgres.url);
  try {
    return await verifyLedger(database.manager);
  } finally {
    await database.destroy();
  }
}

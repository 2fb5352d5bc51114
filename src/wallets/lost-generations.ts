import type { DataSource } from 'typeorm';
import { isBeingGenerated } from './generation-limits';
import type { KeyGeneration } from './key-generation';

/** Wallets asked for in one run: more than run at the same time. */
const batch = 100;
const minAgeMinutes = 5;

/**
 * Starts key generations again whose workflow has ended without a key: terminated by an operator, or lost with the workflow service's
 * data. Each would hold one of the few places for generations for ever. No effect on those that are running.
 * @throws Error when the workflow service does not respond.
 */
export async function restartLostGenerations(database: DataSource, keyGeneration: KeyGeneration): Promise<void> {
  const rows = await database.query<{ wallet_id: string; client_id: string }[]>(
    `select w.wallet_id, w.client_id from wallets w
      where ${isBeingGenerated} and w.created_at < clock_timestamp() - make_interval(mins => $1) order by w.wallet_id limit $2`,
    [minAgeMinutes, batch],
  );
  for (const { wallet_id: walletId, client_id: clientId } of rows) await keyGeneration.start({ walletId, clientId });
}

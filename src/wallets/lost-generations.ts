import type { DataSource } from 'typeorm';
import type { KeyGeneration } from './key-generation';

/** Wallets asked for in one run: more than run at the same time. */
const batch = 100;
const quietMinutes = 5;

/**
 * Starts the key generations again that were begun but whose workflow has ended without a key: terminated by an operator, or lost with the
 * workflow service's data. Each would hold one of the few places for generations for ever. No effect on those that are running.
 * @throws Error when the workflow service does not respond.
 */
export async function restartLostGenerations(database: DataSource, keyGeneration: KeyGeneration): Promise<void> {
  const rows = await database.query<{ wallet_id: string; client_id: string }[]>(
    `select wallet_id, client_id from wallets w
      where key_status = 'GENERATING' and created_at < clock_timestamp() - make_interval(mins => $1) and not exists (
        select from workflow_outbox o where o.kind = 'start_key_generation' and o.subject_id = w.wallet_id)
      order by wallet_id limit $2`,
    [quietMinutes, batch],
  );
  for (const { wallet_id: walletId, client_id: clientId } of rows) await keyGeneration.start({ walletId, clientId });
}

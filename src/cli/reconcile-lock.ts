import type { DataSource } from 'typeorm';
import { GatewayError } from '../platform/errors';

/**
 * Runs `work` while no other `gateway reconcile` works on this database: two would rebuild the same transfer, and one could open the
 * gateway while the other still finds what is missing. Holds a connection of its own.
 * @throws GatewayError business_error while another one runs.
 */
export async function whileReconciling<T>(database: DataSource, work: () => Promise<T>): Promise<T> {
  const runner = database.createQueryRunner();
  try {
    const [row] = (await runner.query(`select pg_try_advisory_lock(hashtext('gateway reconcile')) as taken`)) as [
      { taken: boolean },
    ];
    if (!row.taken)
      throw new GatewayError('business_error', 'Another `gateway reconcile` is at work on this database: wait for its end');
    try {
      return await work();
    } finally {
      await runner.query(`select pg_advisory_unlock(hashtext('gateway reconcile'))`);
    }
  } finally {
    await runner.release();
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';

export type CommitOutcome = 'committed' | 'aborted' | 'unknown';

/** How long the outcome of a COMMIT without an answer is looked up; a request is answered within this time in any case. */
const searchMs = 6_000;
const pauseMs = { first: 20, longest: 500 };
/** Raised by pg_xact_status for an id that no transaction of this server has had: the server crashed before the id was written. */
const invalidParameterValue = '22023';

/**
 * Whether a transaction whose COMMIT was not answered was committed, from the server's own record (pg_xact_status). Takes
 * connections of the pool: the caller must have released its own. `isStored` looks for what the transaction has written, once the
 * server reports it as committed.
 */
export async function findCommitOutcome(
  database: DataSource,
  transactionId: string,
  isStored: () => Promise<boolean> | undefined = () => undefined,
): Promise<CommitOutcome> {
  const deadline = Date.now() + searchMs;
  for (let pause = pauseMs.first; ; pause = Math.min(pause * 2, pauseMs.longest)) {
    const outcome = await Promise.race([
      ask(database, transactionId, isStored),
      delay(deadline - Date.now(), 'unknown' as const, { ref: false }),
    ]);
    if (outcome !== 'unknown' || Date.now() + pause > deadline) return outcome;
    await delay(pause);
  }
}

/** One try; `unknown` while the transaction is still open or the server does not respond. */
async function ask(
  database: DataSource,
  transactionId: string,
  isStored: () => Promise<boolean> | undefined,
): Promise<CommitOutcome> {
  try {
    const [row] = await database.query<{ status: string | null }[]>('select pg_xact_status($1::xid8) as status', [transactionId]);
    if (row?.status === 'aborted') return 'aborted';
    if (row?.status !== 'committed') return 'unknown';
    return (await isStored()) === false ? 'aborted' : 'committed';
  } catch (error) {
    const { code } = (error as { driverError?: { code?: string } }).driverError ?? {};
    return code === invalidParameterValue ? 'aborted' : 'unknown';
  }
}

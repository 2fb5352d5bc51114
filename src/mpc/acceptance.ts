import type { DataSource } from 'typeorm';

/** The decision of the node's operator that a journal which cannot be completed is to be used as it is. */
export interface Acceptance {
  actId: string;
  operator: string;
}

/** The newest one that was given while the node waits, and was not followed yet. */
export async function findAcceptance(database: DataSource, since: Date): Promise<Acceptance | undefined> {
  const [act] = await database.query<{ act_id: string; operator: string }[]>(
    `select act_id, operator from operator_acts
      where act = 'journal_accept' and followed_at is null and acted_at >= $1 order by act_id desc limit 1`,
    [since],
  );
  return act && { actId: act.act_id, operator: act.operator };
}

/** Older ones are used up with it. */
export async function follow(database: DataSource, { actId }: Acceptance): Promise<void> {
  await database.query(
    `update operator_acts set followed_at = clock_timestamp() where act = 'journal_accept' and followed_at is null and act_id <= $1`,
    [actId],
  );
}

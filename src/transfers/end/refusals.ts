import type { EntityManager } from 'typeorm';
import type { FailureCode } from '../../platform/codes';

export interface RefusalReason {
  code: FailureCode;
  reason: string;
}

/** `rule`: by rules, limits and lists. `chain`: the chain would not carry it out. `order`: the authoriser orders no such attempt. */
export interface Refusal extends RefusalReason {
  kind: 'rule' | 'chain' | 'order';
}

/** An attempt that is not begun: 1 is the first. */
interface RefusedAttempt {
  txId: string;
  attempt: number;
}

/** Records why an attempt is not begun: the end of its transfer is read from here. Repeating it has no effect. */
export async function recordRefusal(
  manager: EntityManager,
  { txId, attempt }: RefusedAttempt,
  { kind, code, reason }: Refusal,
): Promise<void> {
  await manager.query(
    'insert into refusals (tx_id, attempt, kind, code, reason) values ($1, $2, $3, $4, $5) on conflict do nothing',
    [txId, attempt, kind, code, reason],
  );
}

/** The refusal of an attempt: by a rule, else the newest; undefined if nothing has refused it. */
export async function findRefusal(manager: EntityManager, { txId, attempt }: RefusedAttempt): Promise<Refusal | undefined> {
  const [newest] = await manager.query<Refusal[]>(
    `select kind, code, reason from refusals where tx_id = $1 and attempt = $2 order by (kind = 'rule') desc, refused_at desc limit 1`,
    [txId, attempt],
  );
  return newest;
}

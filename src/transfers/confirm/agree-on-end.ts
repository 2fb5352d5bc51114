import type { ChainClient } from '../../chains/chain-client';
import type { InclusionEffect, TransactionIntent } from '../../chains/types';
import { isDone } from '../../following/depth';
import { storeInclusion } from '../../following/inclusions';
import { inTransaction } from '../../platform/database';
import type { TransactionEntity } from '../../transactions/entity';
import { toAttemptIntent } from '../../transactions/intent';
import type { Attempt } from '../attempts';
import type { ObserveDependencies } from '../dependencies';

/** An attempt that a block holds. */
export interface IncludedAttempt {
  transfer: TransactionEntity;
  intent: TransactionIntent;
  attempt: Attempt;
}

/**
 * What a block ends as FAILED is unlocked, or not paid again: every configured endpoint has to show the same effect in that block, each by an
 * answer that is whole. That is stored with the attempt. Where one of them shows that the transaction has moved something, and another one shows
 * nothing, it has moved that: it is stored, and needs no agreement.
 * @returns whether the end may be made; an alarm where the endpoints do not agree
 */
export async function agreeOnEnd(
  { database, alarms }: Pick<ObserveDependencies, 'database' | 'alarms'>,
  client: Pick<ChainClient, 'effectAtEach'>,
  { transfer, intent, attempt }: IncludedAttempt,
  { id, effect }: { id: string; effect: InclusionEffect },
): Promise<boolean> {
  const { txId, chain } = transfer;
  const { kind, unsigned } = attempt;
  const shown = await client.effectAtEach({ id, intent: toAttemptIntent(intent, kind), unsigned });
  const store = async (seen: InclusionEffect, agreedBy: number | null) =>
    (await inTransaction(database, (manager) =>
      storeInclusion(manager, { txId, attempt: attempt.attempt, id }, seen, agreedBy),
    )) !== null;
  const isOfSameBlock = (seen: InclusionEffect | null): seen is InclusionEffect =>
    seen?.blockHash === effect.blockHash && seen.success === effect.success;
  const moved = shown.filter(isOfSameBlock).find((seen) => isDone(transfer, { kind, ...seen }));
  if (moved) return store(moved, null);
  const [first = null] = shown;
  if (isOfSameBlock(first) && shown.every((seen) => seen !== null && isSame(seen, first))) return store(first, shown.length);
  alarms.raise(
    `${txId} ${attempt.attempt} end`,
    { alert: 'endpoints_not_agreed', chain, tx_id: txId },
    `${id} does not end its transaction until every endpoint of the chain shows the same effect of it`,
  );
  return false;
}

const isSame = (one: InclusionEffect, other: InclusionEffect): boolean =>
  one.blockNumber === other.blockNumber &&
  one.blockHash === other.blockHash &&
  one.success === other.success &&
  one.fee === other.fee &&
  one.debited === other.debited &&
  one.received === other.received;

import type { EntityManager } from 'typeorm';
import type { BlockScan } from '../chains/chain-client';
import type { InclusionEffect } from '../chains/types';
import { GatewayError } from '../platform/errors';
import { toAttemptIntent } from '../transactions/intent';
import { findAttemptsAmong, type FoundAttempt } from './found-attempts';
import type { FollowOptions } from './ports';

/** An attempt that a scanned block holds, and what the chain did with it. */
export interface FoundInclusion {
  attempt: FoundAttempt;
  effect: InclusionEffect;
}

/** The attempts that the blocks hold. @throws GatewayError chain_unavailable while the chain does not report an effect in these blocks. */
export async function findInclusions(
  manager: EntityManager,
  options: Pick<FollowOptions, 'chain' | 'client' | 'getSignedType'>,
  blocks: BlockScan[],
): Promise<FoundInclusion[]> {
  const { name } = options.chain;
  const attempts = await findAttemptsAmong(
    manager,
    name,
    blocks.flatMap(({ transactions }) => transactions),
  );
  const hashes = new Set(blocks.map(({ hash }) => hash));
  const found = await Promise.all(splitById(attempts).map((list) => withEffects(manager, options, list)));
  return found.flat().flatMap(({ attempt, effect }) => {
    if (effect === null) return [];
    // receipts can come later than their block, or already be those of a block that replaced it
    if (!effect || !hashes.has(effect.blockHash))
      throw new GatewayError('chain_unavailable', `${name}: a receipt of a scanned block is missing`);
    return [{ attempt, effect }];
  });
}

/** No two of the attempts have the same id. */
async function withEffects(
  manager: EntityManager,
  { client, getSignedType }: Pick<FollowOptions, 'client' | 'getSignedType'>,
  attempts: FoundAttempt[],
) {
  const items = attempts.map(async ({ id, kind, unsigned, transaction }) => {
    const intent = await getSignedType(transaction.transactionType).loadIntent(manager, transaction);
    return { id, intent: toAttemptIntent(intent, kind), unsigned };
  });
  const effects = await client.effects(await Promise.all(items));
  return attempts.map((attempt) => ({ attempt, effect: effects.get(attempt.id) }));
}

/** Lists in which no id occurs twice: of a transaction that carries out several attempts, each has an effect of its own. */
function splitById<T extends { id: string }>(items: readonly T[]): T[][] {
  const occurrences = new Map<string, number>();
  const lists: T[][] = [];
  for (const item of items) {
    const before = occurrences.get(item.id) ?? 0;
    occurrences.set(item.id, before + 1);
    (lists[before] ??= []).push(item);
  }
  return lists;
}

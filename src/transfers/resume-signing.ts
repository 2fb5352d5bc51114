import type { EntityManager } from 'typeorm';
import type { OrderClaims } from '../messages/order';
import type { BeginSigningResult } from '../messages/transfer';
import { GatewayError } from '../platform/errors';
import type { TransactionEntity } from '../transactions/entity';
import type { Attempts } from './attempts';
import type { OrderableAttempt } from './build-attempt';
import type { AuthoriserDependencies } from './dependencies';
import { enterSigning } from './enter-signing';
import { assertMayContinue } from './may-sign';
import { refuse } from './not-begun';
import { toOrderFacts } from './order-facts';

/** Bytes and claims are stored; the order is signed after the commit. */
export interface Stored {
  outcome: 'stored';
  attempt: OrderableAttempt;
  claims: OrderClaims;
}

/**
 * An order over the bytes of the newest attempt, which was begun before: the same one while it has life enough, else another. Lists and
 * approval are read again; of a transfer that is given up only the cancellation is signed, whatever the lists say.
 * @throws NotBegun; GatewayError invalid_parameter when nothing was begun.
 */
export async function resumeSigning(
  manager: EntityManager,
  { registry, getFamily, orders }: AuthoriserDependencies,
  transfer: TransactionEntity,
  attempts: Attempts,
): Promise<BeginSigningResult | Stored> {
  const { last } = attempts;
  if (!last) throw new GatewayError('invalid_parameter', 'kind: there is no attempt to resume');
  if (last.signed) return { outcome: 'signed', attempt: last.attempt, kind: last.kind };
  if (last.kind !== 'cancellation') {
    if (attempts.isAbandoned) refuse('abandoned', 'The transfer was abandoned: nothing of it is signed any more');
    await assertMayContinue(manager, transfer);
  }
  if (transfer.status === 'NEEDS_ATTENTION') await enterSigning(manager, transfer);
  const usable = await orders.findUsable(manager, transfer.txId, last.attempt);
  if (usable) return { outcome: 'stored', attempt: last, claims: usable };
  const chain = registry.get(transfer.chain);
  const family = getFamily(chain.family);
  const earlier = attempts.all.filter(({ attempt }) => attempt < last.attempt);
  const facts = toOrderFacts(chain, family, transfer, last, earlier);
  const claims = await orders.issue(manager, facts, family.describe(last.unsigned).expiresAt);
  return { outcome: 'stored', attempt: last, claims };
}

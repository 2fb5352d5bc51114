import { type ItemOutcome, presentError } from '../http/batch';
import type { SecurityFactorEntity } from './entity';
import type { BatchView, DeletedFactorView, FactorList, FactorView } from './schema';

export const presentFactor = (factor: SecurityFactorEntity): FactorView => ({
  factor_id: factor.factorId,
  factor_type: factor.factorType,
  chain: factor.chain,
  address: factor.address,
  label: factor.label,
  status: factor.status,
  reason: factor.reason,
  added_by: factor.addedBy,
  created_at: factor.createdAt.toISOString(),
});

export const presentFactors = (factors: SecurityFactorEntity[], total: number): FactorList => ({
  items: factors.map(presentFactor),
  total,
});

export const presentDeleted = ({ factorId }: SecurityFactorEntity): DeletedFactorView => ({
  factor_id: factorId,
  status: 'deleted',
});

/** What became of each change of a batch, in the order of the request. */
export interface FactorOutcomes {
  /** By id. */
  removed: { item: string; outcome: ItemOutcome<SecurityFactorEntity> }[];
  added: { outcome: ItemOutcome<SecurityFactorEntity> }[];
}

export const presentBatch = ({ removed, added }: FactorOutcomes): BatchView => ({
  removed: removed.map(({ item, outcome }) => ({ factor_id: item, error: presentError(outcome.error) })),
  added: added.map(({ outcome: { done, error } }) => ({ factor: done && presentFactor(done), error: presentError(error) })),
});

import type { SecurityFactorEntity } from './entity';
import type { DeletedFactorView, FactorList, FactorView } from './schema';

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

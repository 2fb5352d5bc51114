import { maxReissuedAttempts } from '../../messages/order';
import type { TransactionEntity } from '../../transactions/entity';
import type { Attempts } from '../attempts';

/** From the first attempt on: proofs are read from blocks that every endpoint still has. */
const reissueForMs = 24 * 60 * 60 * 1000;

/** Why a transfer is not tried again, once none of its attempts can be executed any more; undefined: it is. */
export function findReissueEnd({ signingBegunAt }: TransactionEntity, { all }: Attempts): string | undefined {
  if (Date.now() - Number(signingBegunAt) > reissueForMs)
    return 'No attempt was executed within a day, and none can be executed any more';
  if (all.length >= maxReissuedAttempts)
    return `None of ${maxReissuedAttempts} attempts was executed, and none can be executed any more`;
  return undefined;
}

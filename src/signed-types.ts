import type { GetSignedType, SignedType } from './transactions/signed-type';
import { type TransactionType, transferType } from './transactions/types';
import { outbound } from './transfers/outbound';

const signedTypes: ReadonlyMap<string, SignedType> = new Map<TransactionType, SignedType>([[transferType, outbound]]);

/** @throws Error for a type that is not in the table. */
export const getSignedType: GetSignedType = (name) => {
  const type = signedTypes.get(name);
  if (!type) throw new Error(`transactions of type ${name} are not signed`);
  return type;
};

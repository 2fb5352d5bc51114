import { consolidation } from './consolidations/signed-type';
import type { GetSignedType, SignedType } from './transactions/signed-type';
import { withdrawal } from './settlers/withdrawals/signed-type';
import {
  authorisationType,
  consolidationType,
  settlementType,
  topUpType,
  type TransactionType,
  transferType,
  withdrawalType,
} from './transactions/types';
import { outbound } from './transfers/sign/outbound';
import { settlement } from './x402/settlement/signed-type';
import { authorisation } from './x402/sign/signed-type';
import { topUp } from './x402/settlement/top-up';

const signedTypes = new Map<TransactionType, SignedType>([
  [transferType, outbound],
  [settlementType, settlement],
  [topUpType, topUp],
  [authorisationType, authorisation],
  [withdrawalType, withdrawal],
  [consolidationType, consolidation],
]);

/** @throws Error for a type that is not in the table. */
export const getSignedType: GetSignedType = (name) => {
  const type = signedTypes.get(name as TransactionType);
  if (!type) throw new Error(`transactions of type ${name} are not signed`);
  return type;
};

/** The type of which orders of this kind begin the first attempt. @throws Error for a kind that begins none. */
export function typeOfOrder(kind: string): TransactionType {
  const found = [...signedTypes].find(([, { orderKind }]) => orderKind === kind);
  if (!found) throw new Error(`no transaction begins with a ${kind}`);
  return found[0];
}

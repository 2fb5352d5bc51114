import { parseTransaction, serializeTransaction, type TransactionSerializableEIP1559 } from 'viem';
import { evmFamily } from '../../src/chains/evm/family';
import type { Hex, Prepared } from '../../src/chains/types';
import type { SigningClaims } from '../../src/messages/order';

export interface OrderedTransfer {
  txId: string;
  to: string;
  unsigned: Hex;
  order: string;
  claims: SigningClaims;
}

export const chain = 'ethereum';
/** ETH, of every transfer. */
export const amount = '0.01';

/** The same transaction with changes. */
export function alter(unsigned: Hex, changes: Partial<TransactionSerializableEIP1559>): Hex {
  const parsed = parseTransaction(unsigned) as TransactionSerializableEIP1559;
  return serializeTransaction({ ...parsed, ...changes, type: 'eip1559' });
}

/** The signed bytes. @throws Error when it is not a signature of the account over just these bytes. */
export const assemble = ({ unsigned, claims }: Pick<OrderedTransfer, 'unsigned' | 'claims'>, signatures: Hex[]): Hex =>
  evmFamily.assemble(unsigned, signatures, claims.from).bytes;

/** With its fee multiplied. */
export function multiplyFee(prepared: Prepared, factor: bigint): Prepared {
  const details = prepared.details as Record<string, string>;
  const times = (amount = '0') => (BigInt(amount) * factor).toString();
  return { ...prepared, feeBound: times(prepared.feeBound), details: { ...details, maxFeePerGas: times(details.maxFeePerGas) } };
}

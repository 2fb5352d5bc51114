import type { AttemptKind, TransactionIntent } from '../chains/types';
import type { TransactionEntity } from './entity';

type Intended = Pick<TransactionEntity, 'fromAddress' | 'toAddress' | 'contractAddress' | 'amount'>;

/** The intent of a transaction; a cancellation moves nothing, from the account to itself. */
export function toIntent(
  { fromAddress: from, toAddress: recipient, contractAddress: tokenContract, amount }: Intended,
  kind: AttemptKind,
): TransactionIntent {
  if (kind === 'cancellation') return { from, outputs: [{ recipient: from, tokenContract: null, amount: 0n }] };
  return { from, outputs: [{ recipient, tokenContract, amount }] };
}

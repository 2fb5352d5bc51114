import type { PaymentReason } from '../../payment-reasons';
import type { PaymentContext, PaymentRequest } from '../../payments';
import type { TokenDefinition } from '../../types';
import { parseAddress } from '../codec/address';
import { associatedTokenAccount } from '../codec/token-account';
import type { OfferedTransfer } from './layout';

/** What the resource server asks for. */
export interface Terms {
  token: TokenDefinition;
  mint: Buffer;
  /** Base58, and its bytes: a wallet, whose token account is paid. */
  payTo: string;
  wallet: Buffer;
  /** Atomic units. */
  amount: bigint;
  /** Text that the transaction has to have; null: none is asked for. */
  memo: string | null;
}

/** What `extra` of the requirements asks for; null: nothing. */
export const memoOf = ({ memo }: PaymentRequest['extra']): string | null =>
  typeof memo === 'string' && memo !== '' ? memo : null;

/** null: not a registered token of the chain, or the recipient is no address that may be paid. */
export function readTerms({ chain, asset, payTo, amount, extra }: PaymentRequest): Terms | null {
  // letters of another case make another address
  const token = chain.tokens.find(({ contract }) => contract === asset);
  const [mint, recipient] = [asset, payTo].map(parseAddress);
  if (!token || !mint || !recipient) return null;
  const [mintBytes, wallet] = [mint, recipient].map(({ key }) => Buffer.from(key, 'hex')) as [Buffer, Buffer];
  return { token, mint: mintBytes, payTo: recipient.address, wallet, amount, memo: memoOf(extra) };
}

/** In the order of the official package. */
export function transferReason({ program, mint, destination, amount }: OfferedTransfer, terms: Terms): PaymentReason | null {
  if (!mint.equals(terms.mint)) return 'invalid_exact_svm_payload_mint_mismatch';
  if (!destination.equals(associatedTokenAccount(terms.wallet, mint, program)))
    return 'invalid_exact_svm_payload_recipient_mismatch';
  return amount === terms.amount ? null : 'invalid_exact_svm_payload_amount_mismatch';
}

/**
 * The gateway pays the fees of its own settlers' transactions and is no party of a payment. Nothing is bought for nothing, nor by somebody
 * who pays himself: the fee would be the gateway's.
 */
export function partyReason(
  { source, destination, authority, amount }: OfferedTransfer,
  { wallet }: Terms,
  { settlers }: PaymentContext,
): PaymentReason | null {
  const isToItself = authority.equals(wallet) || source.equals(destination);
  return isToItself || amount === 0n || settlers.has(wallet.toString('hex')) ? 'invalid_payment_requirements' : null;
}

import type { PaymentReason } from '../../payment-reasons';
import { maxSigners } from './limits';
import type { OfferedTransfer } from './layout';
import type { OfferedTransaction } from './offered';
import { isSignedBy } from './signed-by';

/** The settler comes first and signs last; every other signer has signed. */
export function signersReason({ signatures, message, keys }: OfferedTransaction, settler: Buffer): PaymentReason | null {
  // each signature is paid for
  if (signatures.length > maxSigners) return 'invalid_exact_svm_payload_excessive_signers';
  if (!keys[0]?.equals(settler)) return 'invalid_exact_svm_fee_payer_mismatch';
  const others = signatures.slice(1);
  const isSigned = others.every((signature, index) => isSignedBy(keys[index + 1] as Buffer, signature, message));
  return isSigned ? null : 'invalid_exact_svm_payload_signature_invalid';
}

/**
 * The owner of the tokens, or whom he has allowed to use them, is the only other signer: no group of signers that a program counts. The second
 * key is no signer's where the settler's signature is the only one.
 */
export const isByPayer = ({ signatures, keys }: OfferedTransaction, { authority }: OfferedTransfer): boolean =>
  signatures.length === maxSigners && keys[1]?.equals(authority) === true;

/** A program that is given the settler as an account has its signature, and may do with it whatever the settler itself may. */
export function isolationReason({ instructions }: OfferedTransaction, settler: Buffer): PaymentReason | null {
  const isUsed = instructions.some(({ accounts }) => accounts.some((account) => account.equals(settler)));
  return isUsed ? 'invalid_exact_svm_smart_wallet_fee_payer_not_isolated' : null;
}

import type { Hex } from '../../types';
import { type OfferedPayment, otherReason, othersOf, readLayout } from '../payments/layout';
import { type OfferedTransaction, readTransaction } from '../payments/offered';
import { isByPayer, isolationReason, signersReason } from '../payments/signers';
import { isOnCurve, isUsable } from './address';
import { writeLength } from './message';
import { hasTag, paymentTags, readPaymentForm, writePaymentForm } from './payment-form';
import { associatedTokenAccount } from './token-account';

/** What a settler signs beside the payer: the payer's transaction with nothing in the settler's place. */
export interface UnsignedSettlement extends OfferedPayment {
  /** Fee payer: the first signer. */
  settler: Buffer;
  /** Whose token account is paid: derived from the wallet. */
  wallet: Buffer;
  /** Seconds since the epoch. */
  lastSecond: bigint;
  /** As the payer has signed it. */
  transaction: OfferedTransaction;
}

const tag = paymentTags.settlement;
const emptySignature = Buffer.alloc(64);

/** Whether unsigned bytes of the gateway are a settlement, if they are any. */
export const isSettlement = (unsigned: Hex): boolean => hasTag(tag, unsigned);

/**
 * @param transaction in wire format, as the payer has signed it
 * @throws Error for what `decodeSettlement` refuses.
 */
export function encodeSettlement(transaction: Buffer, wallet: Buffer, lastSecond: bigint): Hex {
  const bytes = writePaymentForm(tag, { lastSecond, wallet, bytes: transaction });
  decodeSettlement(bytes);
  return bytes;
}

/**
 * Every check of a payment that needs neither a chain nor the terms of a resource server, once more: a node that signs relies on no other
 * process. @throws Error for bytes that this gateway would never build.
 */
export function decodeSettlement(unsigned: Hex): UnsignedSettlement {
  const { lastSecond, wallet, bytes } = readPaymentForm(tag, unsigned);
  const offered = readTransaction(bytes);
  if (!('transaction' in offered)) throw new Error(`the transaction is refused: ${offered.refused}`);
  const { transaction } = offered;
  const settlement = { wallet, lastSecond, transaction, ...readPayment(transaction) };
  assertPays(settlement);
  return settlement;
}

function readPayment(transaction: OfferedTransaction): OfferedPayment & { settler: Buffer } {
  const [settler] = transaction.keys;
  if (!settler || !isOnCurve(settler)) throw new Error('the settler has no key');
  if (transaction.signatures[0]?.equals(emptySignature) !== true)
    throw new Error('somebody has signed in the place of the settler');
  const unsigned = signersReason(transaction, settler);
  if (unsigned) throw new Error(unsigned);
  const layout = readLayout(transaction.instructions, 2);
  const refused = 'reason' in layout ? layout.reason : null;
  const reason = refused ?? otherReason(othersOf(transaction.instructions), null) ?? isolationReason(transaction, settler);
  if ('reason' in layout || reason !== null) throw new Error(String(reason));
  if (!isByPayer(transaction, layout.transfer)) throw new Error('the one who pays has not signed');
  return { settler, ...layout };
}

function assertPays({ settler, wallet, transfer }: UnsignedSettlement): void {
  const { program, source, mint, destination, authority, amount } = transfer;
  if (amount === 0n) throw new Error('nothing is paid');
  if (!isUsable(wallet) || !isUsable(mint)) throw new Error('the recipient or the token is no address');
  if (!destination.equals(associatedTokenAccount(wallet, mint, program)))
    throw new Error('the token account is not of the wallet');
  if (source.equals(destination) || authority.equals(wallet)) throw new Error('it is paid to the payer');
  if (settler.equals(wallet)) throw new Error('it is paid to the settler');
}

/** A transaction with nothing in the place of its settler, whose signature comes last: one payment has one form. */
export const withoutSettler = ({ signatures, message }: Pick<OfferedTransaction, 'signatures' | 'message'>): Buffer =>
  Buffer.concat([writeLength(signatures.length), emptySignature, ...signatures.slice(1), message]);

/** One text for one transaction that its payer has signed. */
export const authorisationOf = (transaction: Pick<OfferedTransaction, 'signatures' | 'message'>): string =>
  withoutSettler(transaction).toString('hex');

import { fromHex, toHex } from '../../../platform/hex';
import { capSecond } from '../../../platform/last-second';
import type { Hex } from '../../types';
import { type OfferedPayment, otherReason, othersOf, readLayout } from '../payments/layout';
import { type OfferedTransaction, readTransaction } from '../payments/offered';
import { isByPayer, isolationReason, signersReason } from '../payments/signers';
import { isOnCurve, isUsable } from './address';
import { writeLength } from './message';
import { associatedTokenAccount } from './token-account';

/**
 * What a settler signs beside the payer, in the gateway's own form of unsigned bytes: a tag, the last second of the settlement, the wallet
 * that is paid, and the payer's transaction with nothing in the settler's place. The message names the token account of the wallet alone,
 * from which the wallet cannot be had; and it has no time, but a block hash.
 */
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

/** No message and no transaction begins with it: the first byte of those is a version or a number of signatures. */
const tag = 0;
const walletAt = 1 + 8;
const transactionAt = walletAt + 32;
/** With a transaction of PACKET_DATA_SIZE. */
const maxHex = 2 * (transactionAt + 1_232);
const emptySignature = Buffer.alloc(64);

/** Whether unsigned bytes of the gateway are a settlement, if they are any. */
export const isSettlement = (unsigned: Hex): boolean => unsigned.startsWith('0x00');

/**
 * @param transaction in wire format, as the payer has signed it
 * @throws Error for what `decodeSettlement` refuses.
 */
export function encodeSettlement(transaction: Buffer, wallet: Buffer, lastSecond: bigint): Hex {
  const head = Buffer.alloc(walletAt, tag);
  head.writeBigUInt64LE(lastSecond, 1);
  const bytes = toHex(Buffer.concat([head, wallet, transaction]));
  decodeSettlement(bytes);
  return bytes;
}

/**
 * Every check of a payment that needs neither a chain nor the terms of a resource server, once more: a node that signs relies on no other
 * process. @throws Error for bytes that this gateway would never build.
 */
export function decodeSettlement(unsigned: Hex): UnsignedSettlement {
  if (unsigned.length > 2 + maxHex || !/^0x00(?:[0-9a-f]{2})+$/.test(unsigned))
    throw new Error('a settlement is lower-case hex of one transaction');
  const bytes = fromHex(unsigned);
  if (bytes.length <= transactionAt) throw new Error('there is no transaction');
  const lastSecond = bytes.readBigUInt64LE(1);
  if (lastSecond !== capSecond(lastSecond)) throw new Error('the time is out of range');
  const wallet = bytes.subarray(walletAt, transactionAt);
  const offered = readTransaction(bytes.subarray(transactionAt));
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

import { fromHex, toHex } from '../../../platform/hex';
import { capSecond } from '../../../platform/last-second';
import type { Hex } from '../../types';

/**
 * The gateway's own form of unsigned bytes of a payment by x402: a tag, the last second, the wallet that is paid, and bytes of the chain.
 * Those name the token account of the wallet alone, from which the wallet cannot be had; and they have no time, but a block hash.
 */
export interface PaymentForm {
  /** When it should be over, seconds since the epoch. */
  lastSecond: bigint;
  /** Whose token account is paid: derived from the wallet. */
  wallet: Buffer;
  /** Of one transaction, or of its message. */
  bytes: Buffer;
}

/** A message begins with 0x80 or its number of signers, a transaction with its number of signatures: 1 to 12, never 0 or 127. */
export const paymentTags = { settlement: 0x00, authorisation: 0x7f } as const;
export type PaymentTag = (typeof paymentTags)[keyof typeof paymentTags];

const walletAt = 1 + 8;
const bytesAt = walletAt + 32;
/** With a transaction of PACKET_DATA_SIZE. */
const maxHex = 2 + 2 * (bytesAt + 1_232);

/** Whether unsigned bytes of the gateway have this form, if they are any. */
export const hasTag = (tag: PaymentTag, unsigned: Hex): boolean => unsigned.startsWith(toHex(Buffer.of(tag)));

export function writePaymentForm(tag: PaymentTag, { lastSecond, wallet, bytes }: PaymentForm): Hex {
  const head = Buffer.alloc(walletAt, tag);
  head.writeBigUInt64LE(lastSecond, 1);
  return toHex(Buffer.concat([head, wallet, bytes]));
}

/** @throws Error for text that is not of this form; nothing is said of its wallet and bytes. */
export function readPaymentForm(tag: PaymentTag, unsigned: Hex): PaymentForm {
  if (unsigned.length > maxHex || !hasTag(tag, unsigned) || !/^0x(?:[0-9a-f]{2})+$/.test(unsigned))
    throw new Error('a payment is lower-case hex of one transaction');
  const all = fromHex(unsigned);
  if (all.length <= bytesAt) throw new Error('there is no transaction');
  const lastSecond = all.readBigUInt64LE(1);
  if (lastSecond !== capSecond(lastSecond)) throw new Error('the time is out of range');
  return { lastSecond, wallet: all.subarray(walletAt, bytesAt), bytes: all.subarray(bytesAt) };
}

import { fromHex, toHex } from '../../../platform/hex';
import type { Hex } from '../../types';
import { isOnCurve } from './address';
import { fromInstructions, toInstructions } from './instructions';
import { readMessage, writeMessage } from './message';
import type { UnsignedTransaction } from './unsigned';

/** Four times what the dearest payment takes: a token account is created for 20,000 to 30,000 units, a long memo takes 40,000. */
export const maxUnits = 300_000;
/** Millionths of a lamport: with all units 0.0015 SOL. */
export const maxPrice = 5_000_000n;
const maxMessageHex = 2 * 1_232;
const maxAmount = 2n ** 64n - 1n;

/** @throws Error for what `decode` refuses. */
export function encode(transaction: UnsignedTransaction): Hex {
  assertSound(transaction);
  const bytes = toHex(write(transaction));
  decode(bytes);
  return bytes;
}

const write = (transaction: UnsignedTransaction): Buffer =>
  writeMessage(transaction.owner, transaction.blockhash, toInstructions(transaction));

/** @throws Error for bytes that this gateway would never build, in whatever form. */
export function decode(unsigned: Hex): UnsignedTransaction {
  if (unsigned.length > 2 + maxMessageHex || !/^0x(?:[0-9a-f]{2})+$/.test(unsigned))
    throw new Error('unsigned bytes are lower-case hex of one message');
  const bytes = fromHex(unsigned);
  const transaction = fromInstructions(readMessage(bytes));
  assertSound(transaction);
  if (!write(transaction).equals(bytes)) throw new Error('the bytes are not in canonical form');
  return transaction;
}

function assertSound({ owner, recipient, amount, token, units, price }: UnsignedTransaction): void {
  if (!isOnCurve(owner)) throw new Error('the sender has no key');
  if (recipient.equals(owner)) throw new Error('nothing is paid to the sender');
  if (token?.mint.equals(recipient)) throw new Error('a token is not paid to its mint');
  if (amount <= 0n || amount > maxAmount) throw new Error('the amount is out of range');
  if (units <= 0 || units > maxUnits) throw new Error('the limit of the compute units is out of range');
  if (price < 0n || price > maxPrice) throw new Error('the price of the compute units is out of range');
}

import { fromHex, toHex } from '../../../platform/hex';
import { capSecond } from '../../../platform/last-second';
import type { Hex } from '../../types';
import { isOnCurve, isUsable } from '../codec/address';
import { toBudget, toMemo, toTransferChecked } from '../codec/instructions';
import { writeLength, writeMessage } from '../codec/message';
import { programs, type TokenProgram } from '../codec/programs';
import { othersOf, readLayout } from '../payments/layout';
import { readTransaction } from '../payments/offered';

/**
 * A payment that an account signs for somebody else to pay the fee of and to send (x402, scheme exact on SVM). Keys and hashes have 32 bytes.
 */
export interface Authorisation {
  /** Signs after the account, and sends it. */
  feePayer: Buffer;
  /** The account whose tokens are paid. */
  owner: Buffer;
  /** A wallet: its associated token account is paid, which has to exist. */
  recipient: Buffer;
  /** Atomic units. */
  amount: bigint;
  mint: Buffer;
  program: TokenProgram;
  decimals: number;
  /** Limit of compute units, and millionths of a lamport for each of it. */
  units: number;
  price: bigint;
  /** null: none. */
  memo: string | null;
  blockhash: Buffer;
  /** When it should be over, seconds since the epoch; the chain counts blocks in its place. */
  lastSecond: bigint;
}

/** A message of so many signers, or a transaction of so many signatures, would not fit into a packet. */
const tag = 0x7f;
const walletAt = 1 + 8;
const messageAt = walletAt + 32;
/** With a transaction of PACKET_DATA_SIZE. */
const maxHex = 2 * (messageAt + 1_232);
const emptySignature = Buffer.alloc(64);
/** The client of the official package takes no longer one. */
export const maxMemoBytes = 256;

/** Whether unsigned bytes of the gateway authorise a payment, if they are any. */
export const isAuthorisation = (unsigned: Hex): boolean => unsigned.startsWith('0x7f');

/** @throws Error for what `readAuthorisation` refuses. */
export function writeAuthorisation(authorisation: Authorisation): Hex {
  const unsigned = encode(authorisation);
  readAuthorisation(unsigned);
  return unsigned;
}

/** The message names the token account of the wallet alone, from which the wallet cannot be had; and it has no time, but a block hash. */
function encode(authorisation: Authorisation): Hex {
  const { recipient, lastSecond } = authorisation;
  const head = Buffer.alloc(walletAt, tag);
  head.writeBigUInt64LE(lastSecond, 1);
  return toHex(Buffer.concat([head, recipient, writeMessageOf(authorisation)]));
}

function writeMessageOf(authorisation: Authorisation): Buffer {
  const { feePayer, owner, memo, blockhash } = authorisation;
  const transfer = toTransferChecked(authorisation, authorisation);
  return writeMessage(feePayer, blockhash, [...toBudget(authorisation), transfer, ...toMemo(memo)], owner);
}

export interface ReadAuthorisation extends Authorisation {
  /** What is signed. */
  message: Buffer;
}

/** @throws Error unless the bytes are those of `writeAuthorisation`, and pay what a facilitator of the protocol would settle. */
export function readAuthorisation(unsigned: Hex): ReadAuthorisation {
  if (unsigned.length > 2 + maxHex || !/^0x7f(?:[0-9a-f]{2})+$/.test(unsigned))
    throw new Error('an authorisation is lower-case hex of one message');
  const bytes = fromHex(unsigned);
  if (bytes.length <= messageAt) throw new Error('there is no message');
  const lastSecond = bytes.readBigUInt64LE(1);
  if (lastSecond !== capSecond(lastSecond)) throw new Error('the time is out of range');
  const recipient = bytes.subarray(walletAt, messageAt);
  const message = bytes.subarray(messageAt);
  const authorisation = { ...readMessageOf(message), recipient, lastSecond };
  assertPays(authorisation);
  // nothing but the one transfer, from and to the accounts of these wallets, in one form
  if (encode(authorisation) !== unsigned) throw new Error('the bytes are not in canonical form');
  return { ...authorisation, message };
}

function readMessageOf(message: Buffer): Omit<Authorisation, 'recipient' | 'lastSecond'> {
  const offered = readTransaction(withSignatures(message, [emptySignature, emptySignature]));
  if (!('transaction' in offered)) throw new Error(`the message is refused: ${offered.refused}`);
  const { keys, blockhash, instructions } = offered.transaction;
  const layout = readLayout(instructions, 2);
  if ('reason' in layout) throw new Error(layout.reason);
  const { units, price, transfer } = layout;
  const [feePayer, owner] = keys as [Buffer, Buffer];
  const [memo, ...more] = othersOf(instructions);
  if (more.length > 0 || (memo && !memo.program.equals(programs.memo)))
    throw new Error('a memo follows the transfer, and nothing else');
  const { mint, program, amount, decimals } = transfer;
  return { feePayer, owner, mint, program, amount, decimals, units, price, memo: memo ? readMemo(memo.data) : null, blockhash };
}

function readMemo(bytes: Buffer): string {
  if (bytes.length === 0 || bytes.length > maxMemoBytes) throw new Error('the memo is empty or too long');
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}

function assertPays({ feePayer, owner, recipient, amount, mint }: Authorisation): void {
  if (!isOnCurve(feePayer) || !isOnCurve(owner)) throw new Error('a signer has no key');
  if (feePayer.equals(owner)) throw new Error('the account does not pay the fee');
  if (!isUsable(recipient) || !isUsable(mint)) throw new Error('the recipient or the token is no address');
  if (recipient.equals(owner)) throw new Error('nothing is paid to the payer');
  if (amount === 0n) throw new Error('nothing is paid');
}

/** In wire format. */
const withSignatures = (message: Buffer, signatures: readonly Buffer[]): Buffer =>
  Buffer.concat([writeLength(signatures.length), ...signatures, message]);

/** As the payer sends it: with nothing in the place of whoever pays the fee, in wire format. `signature`: of the account. */
export const toOffered = ({ message }: ReadAuthorisation, signature: Buffer): Buffer =>
  withSignatures(message, [emptySignature, signature]);

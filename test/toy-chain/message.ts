import { createHash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import type { ParsedAddress } from '../../src/chains/family';
import type { Hex } from '../../src/chains/types';

/**
 * Transactions of the toy chain. A message spends inputs, of one or several owners, and pays outputs; what its inputs have beyond that
 * goes back to their owners, and the rest is the fee. Or it settles a voucher, and its inputs pay the fee alone. Every owner signs. The id is the hash of message and signatures together,
 * so that each signature gives another id; the message key is the hash of the message alone.
 */

export interface ToyInput {
  /** Id of the output that is spent: `<transaction id>:<index>`. */
  id: string;
  /** Address, as shown. */
  owner: string;
  amount: bigint;
}

export interface ToyPayment {
  to: string;
  amount: bigint;
}

/** One output that its owner pays to somebody, whoever sends the message. */
export interface ToyVoucher {
  input: ToyInput;
  to: string;
  /** The owner's. */
  signature: Hex;
}

export interface ToyMessage {
  /** CAIP-2. */
  chain: string;
  /** The owner who pays outputs and fee; every other owner gets back what it puts in. */
  from: string;
  inputs: ToyInput[];
  outputs: ToyPayment[];
  change: ToyPayment[];
  /** Number of the last block that may include it. */
  expiryHeight: number;
  /** In place of outputs. */
  voucher?: ToyVoucher;
}

export interface ToyTransaction {
  id: string;
  messageKey: string;
  message: ToyMessage;
  bytes: Hex;
}

const checksum = (key: string): string => sha256(`toy address ${key}`).slice(0, 6).toUpperCase();
const format = (key: string): ParsedAddress => ({ address: `Toy-${key.toUpperCase()}-${checksum(key)}`, key });

/** Addresses look like Toy-<40 digits>-<6 digits of checksum>; the canonical form is the 40 digits in lower case. */
export function parseToyAddress(text: string): ParsedAddress | null {
  const key = /^Toy-([0-9A-F]{40})-[0-9A-F]{6}$/.exec(text)?.[1]?.toLowerCase();
  if (!key) return null;
  const parsed = format(key);
  return parsed.address === text ? parsed : null;
}

export const toyAddress = (publicKey: Uint8Array): ParsedAddress => format(sha256(publicKey).slice(0, 40));

/** Canonical form of an address that has to be one. @throws Error. */
export function toKey(address: string): string {
  const parsed = parseToyAddress(address);
  if (!parsed) throw new Error(`${address} is no toy address`);
  return parsed.key;
}

const inputToJson = ({ id, owner, amount }: ToyInput): EncodedInput => [id, owner, amount.toString()];
const inputFromJson = ([id, owner, amount]: EncodedInput): ToyInput => ({ id, owner, amount: BigInt(amount) });

export function encodeMessage(message: ToyMessage): Hex {
  const { voucher } = message;
  const payments = (list: ToyPayment[]) => list.map(({ to, amount }) => [to, amount.toString()]);
  return toHex(
    JSON.stringify([
      message.chain,
      message.from,
      message.inputs.map(inputToJson),
      payments(message.outputs),
      payments(message.change),
      message.expiryHeight,
      ...(voucher ? [inputToJson(voucher.input), voucher.to, voucher.signature] : []),
    ]),
  );
}

type EncodedInput = [string, string, string];
type Payments = [string, string][];
type Encoded = [string, string, EncodedInput[], Payments, Payments, number, EncodedInput?, string?, Hex?];

/** @throws Error on bytes that are not the canonical form of a valid message. */
export function decodeMessage(unsigned: Hex): ToyMessage {
  const [chain, from, inputs, outputs, change, expiryHeight, input, to = '', signature = '0x'] = JSON.parse(
    toText(unsigned),
  ) as Encoded;
  const payments = (list: Payments) => list.map(([to, amount]) => ({ to, amount: BigInt(amount) }));
  const message: ToyMessage = {
    chain,
    from,
    inputs: inputs.map(inputFromJson),
    outputs: payments(outputs),
    change: payments(change),
    expiryHeight,
    ...(input && { voucher: { input: inputFromJson(input), to, signature } }),
  };
  if (encodeMessage(message) !== unsigned) throw new Error('the bytes are not in canonical form');
  verifyMessage(message);
  return message;
}

function verifyMessage(message: ToyMessage): void {
  const { chain, from, inputs, outputs, change, expiryHeight, voucher } = message;
  for (const address of [from, ...inputs.map(({ owner }) => owner), ...paymentsOf(message).map(({ to }) => to)]) toKey(address);
  if (voucher) verifyVoucher(chain, voucher);
  if (voucher && outputs.length > 0) throw new Error('a message that settles a voucher pays nothing else');
  const amounts = [...inputs, ...outputs, ...change].map(({ amount }) => amount);
  if (amounts.some((amount) => amount <= 0n)) throw new Error('every amount is above zero');
  if (new Set(inputs.map(({ id }) => id)).size !== inputs.length) throw new Error('an input is spent twice');
  if (!inputs.some(({ owner }) => owner === from)) throw new Error('the sender spends nothing');
  for (const owner of ownersOf(inputs)) {
    const back = sum(change.filter(({ to }) => to === owner));
    const put = sum(inputs.filter((input) => input.owner === owner));
    if (owner !== from && back !== put) throw new Error('another owner than the sender does not get back what it puts in');
  }
  if (change.some(({ to }) => !inputs.some(({ owner }) => owner === to))) throw new Error('change goes to an owner of inputs');
  if (sum(inputs) < sum(outputs) + sum(change)) throw new Error('more is paid than is put in');
  if (!Number.isSafeInteger(expiryHeight) || expiryHeight < 0) throw new Error('the expiry is no block number');
}

/** What its owner signs. */
export const voucherDigest = (chain: string, { input, to }: Pick<ToyVoucher, 'input' | 'to'>): Hex =>
  `0x${sha256(`${chain} voucher ${input.id} to ${to}`)}`;

function verifyVoucher(chain: string, voucher: ToyVoucher): void {
  if (recoverSigner(voucherDigest(chain, voucher), voucher.signature) !== toKey(voucher.input.owner))
    throw new Error('a voucher is not signed by the owner of its input');
}

/** What the message pays to others, and what is paid by its voucher. */
export const paymentsOf = ({ outputs, voucher }: ToyMessage): ToyPayment[] =>
  voucher ? [{ to: voucher.to, amount: voucher.input.amount }] : outputs;

/** What it spends. */
export const spentBy = ({ inputs, voucher }: ToyMessage): ToyInput[] => (voucher ? [...inputs, voucher.input] : inputs);

/** Zero for messages without inputs. */
export const feeOf = ({ inputs, outputs, change }: ToyMessage): bigint =>
  inputs.length === 0 ? 0n : sum(inputs) - sum(outputs) - sum(change);

/** Owners in the order of their first input. */
export const ownersOf = (inputs: ToyInput[]): string[] => [...new Set(inputs.map(({ owner }) => owner))];

/** What each owner signs, in the order of their first input. */
export function payloadsOf(unsigned: Hex): { owner: string; signer: string; digest: Hex }[] {
  return ownersOf(decodeMessage(unsigned).inputs).map((owner) => {
    const signer = toKey(owner);
    return { owner, signer, digest: `0x${sha256(`${unsigned} signed by ${signer}`)}` };
  });
}

export const messageKeyOf = (unsigned: Hex): string => sha256(`message ${unsigned}`);

/** @throws Error unless there is one signature of each owner: r || s || recovery id. */
export function sealTransaction(unsigned: Hex, signatures: Hex[]): ToyTransaction {
  const payloads = payloadsOf(unsigned);
  if (signatures.length !== payloads.length) throw new Error(`${payloads.length} signatures are needed`);
  payloads.forEach(({ signer, digest }, index) => {
    if (recoverSigner(digest, signatures[index] as Hex) !== signer) throw new Error('a signature is not of its signer');
  });
  const bytes = toHex(JSON.stringify([unsigned, ...signatures]));
  return { id: sha256(`signed ${bytes}`), messageKey: messageKeyOf(unsigned), message: decodeMessage(unsigned), bytes };
}

/** @throws Error on bytes that the chain would not accept. */
export function openTransaction(bytes: Hex): ToyTransaction {
  const [unsigned, ...signatures] = JSON.parse(toText(bytes)) as [Hex, ...Hex[]];
  return sealTransaction(unsigned, signatures);
}

function recoverSigner(digest: Hex, signature: Hex): string {
  if (!/^0x[0-9a-f]{130}$/.test(signature)) throw new Error('a signature has 65 bytes');
  const bytes = Buffer.from(signature.slice(2), 'hex');
  const ecdsa = secp256k1.Signature.fromBytes(bytes.subarray(0, 64), 'compact').addRecoveryBit(bytes[64] as number);
  return toyAddress(ecdsa.recoverPublicKey(Buffer.from(digest.slice(2), 'hex')).toBytes(true)).key;
}

export const sum = (items: { amount: bigint }[]): bigint => items.reduce((total, { amount }) => total + amount, 0n);
export const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');
const toHex = (text: string): Hex => `0x${Buffer.from(text).toString('hex')}`;
const toText = (hex: Hex): string => Buffer.from(hex.slice(2), 'hex').toString();

import { OutScript, Transaction } from '@scure/btc-signer';
import { fromHex, toHex } from '../../../platform/hex';
import type { Hex } from '../../types';
import { dustLimit, virtualSize } from '../sizes';
import { assertPaid } from './address';

/** An order has at most 64 digests, and each input has one. */
export const maxInputs = 64;
const maxOutputs = 64;
/** The largest transaction has less than 10,000 bytes. */
const maxBytes = 16_384;
/** 21 million coins, in satoshis. */
const maxMoney = 21_000_000n * 10n ** 8n;
/** May be replaced at a higher fee (BIP-125), without a relative lock time (BIP-68). */
const sequence = 0xfffffffd;

/** An output that can be spent. */
export interface Coin {
  /** `<id of its transaction>:<index>`. */
  resource: string;
  /** Satoshis. */
  amount: bigint;
}

/** An output to be made. */
export interface Payment {
  script: Uint8Array;
  /** Satoshis. */
  amount: bigint;
}

/** A transaction of one sender; what its inputs have beyond payments and change is the fee. */
export interface UnsignedTransaction {
  /** In the order of the inputs. */
  coins: Coin[];
  /** P2WPKH script of the sender, to which all coins belong and the change goes. */
  script: Uint8Array;
  payments: Payment[];
  /** Satoshis; 0n: none. */
  change: bigint;
}

export const sum = (items: readonly { amount: bigint }[]): bigint => items.reduce((total, { amount }) => total + amount, 0n);

export const getFee = ({ coins, payments, change }: UnsignedTransaction): bigint => sum(coins) - sum(payments) - change;

export const getVirtualSize = ({ coins, payments, change, script }: UnsignedTransaction): bigint =>
  virtualSize(coins.length, [...payments.map((payment) => payment.script), ...(change > 0n ? [script] : [])]);

/** PSBT (BIP-174, version 0) of the unsigned transaction with script and amount of every input. @throws Error as `decode` does. */
export function encode(transaction: UnsignedTransaction): Hex {
  verify(transaction);
  return toHex(toLibrary(transaction).toPSBT(0));
}

/** @throws Error on bytes that `encode` would not make. */
export function decode(unsigned: Hex): UnsignedTransaction {
  const transaction = fromLibrary(open(unsigned));
  verify(transaction);
  if (toHex(toLibrary(transaction).toPSBT(0)) !== unsigned) throw new Error('the bytes are not in canonical form');
  return transaction;
}

/** As the library has it, for what the bytes are to be signed with. @throws Error on bytes that are no PSBT. */
export function open(unsigned: Hex): Transaction {
  if (unsigned.length > 2 + 2 * maxBytes || !/^0x(?:[0-9a-f]{2})+$/.test(unsigned))
    throw new Error(`unsigned bytes are lower-case hex, at most ${maxBytes} bytes`);
  return Transaction.fromPSBT(Uint8Array.from(fromHex(unsigned)));
}

function toLibrary({ coins, script, payments, change }: UnsignedTransaction): Transaction {
  const transaction = new Transaction({ version: 2, lockTime: 0 });
  for (const { resource, amount } of coins)
    transaction.addInput({ ...parseResource(resource), sequence, witnessUtxo: { script, amount } });
  for (const payment of payments) transaction.addOutput(payment);
  if (change > 0n) transaction.addOutput({ script, amount: change });
  return transaction;
}

function fromLibrary(transaction: Transaction): UnsignedTransaction {
  const inputs = Array.from({ length: transaction.inputsLength }, (_, index) => {
    const { txid, index: vout, witnessUtxo } = transaction.getInput(index);
    if (!txid || vout === undefined || !witnessUtxo) throw new Error('an input lacks the output that it spends');
    return { resource: `${Buffer.from(txid).toString('hex')}:${vout}`, ...witnessUtxo };
  });
  const outputs = Array.from({ length: transaction.outputsLength }, (_, index) => {
    const { script, amount } = transaction.getOutput(index);
    if (!script || amount === undefined) throw new Error('an output lacks script or amount');
    return { script, amount };
  });
  const [first] = inputs;
  if (!first) throw new Error('a transaction spends something');
  const { script } = first;
  if (!inputs.every((input) => isSame(input.script, script))) throw new Error('the inputs are of several senders');
  const last = outputs.at(-1);
  const hasChange = last !== undefined && isSame(last.script, script);
  return {
    coins: inputs.map(({ resource, amount }) => ({ resource, amount })),
    script,
    payments: hasChange ? outputs.slice(0, -1) : outputs,
    change: hasChange ? last.amount : 0n,
  };
}

function verify(transaction: UnsignedTransaction): void {
  const { coins, script, payments, change } = transaction;
  if (OutScript.decode(script).type !== 'wpkh') throw new Error('the sender has no P2WPKH address');
  if (coins.length === 0 || coins.length > maxInputs) throw new Error(`a transaction has 1 to ${maxInputs} inputs`);
  if (new Set(coins.map(({ resource }) => resource)).size !== coins.length) throw new Error('an input is spent twice');
  if (payments.length > maxOutputs) throw new Error(`a transaction has at most ${maxOutputs} recipients`);
  if (coins.some(({ amount }) => amount <= 0n) || sum(coins) > maxMoney) throw new Error('an amount is out of range');
  if (payments.length === 0 && change === 0n) throw new Error('a transaction pays something');
  for (const payment of payments) assertPaid(payment.script);
  for (const output of [...payments, ...(change === 0n ? [] : [{ script, amount: change }])])
    if (output.amount < dustLimit(output.script)) throw new Error('an output is too small to be relayed');
  if (payments.some((payment) => isSame(payment.script, script))) throw new Error('a payment goes to the sender');
  const [fee, size] = [getFee(transaction), getVirtualSize(transaction)];
  if (fee < size) throw new Error(`a fee of ${fee} satoshis is below 1 satoshi per virtual byte, which are ${size}`);
}

function parseResource(resource: string): { txid: string; index: number } {
  const [, txid, vout] = /^([0-9a-f]{64}):(0|[1-9]\d{0,9})$/.exec(resource) ?? [];
  if (!txid || !vout || Number(vout) > 0xffffffff) throw new Error(`${resource} is no output of a transaction`);
  return { txid, index: Number(vout) };
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

import { payments, Transaction } from 'bitcoinjs-lib';
import type { Executed, Owner } from './record-differences';

/** By output script, in hex. */
export type OwnScripts = ReadonlyMap<string, Owner>;

interface Output {
  script: Uint8Array;
  /** Satoshis. */
  value: bigint;
  owner: Owner;
}

const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** What accounts of the gateway have signed of the transactions of a chain, which are given in the chain's order. */
export class ExecutedOnBitcoin {
  /** Of the gateway, by `<id of the transaction>:<index>`. */
  private readonly outputs = new Map<string, Output>();

  constructor(private readonly own: OwnScripts) {}

  /** Each input of the next transaction that spends an output of the gateway, with the digest that its signature is of (BIP-143). */
  next(transaction: Transaction): Executed[] {
    const id = transaction.getId();
    const executed = transaction.ins.flatMap(({ hash, index }, at) => {
      const output = this.outputs.get(`${toHex(Uint8Array.from(hash).reverse())}:${index}`);
      return output ? [toExecuted(transaction, at, output, `input ${at} of ${id} on bitcoin`)] : [];
    });
    transaction.outs.forEach(({ script, value }, index) => {
      const owner = this.own.get(toHex(script));
      if (owner !== undefined) this.outputs.set(`${id}:${index}`, { script, value, owner });
    });
    return executed;
  }
}

function toExecuted(transaction: Transaction, at: number, { script, value, owner }: Output, subject: string): Executed {
  // the script that BIP-143 has in place of the witness program
  const { output: code } = payments.p2pkh({ hash: script.subarray(2) });
  const digest = code && `0x${toHex(transaction.hashForWitnessV0(at, code, value, Transaction.SIGHASH_ALL))}`;
  return { subject, digest: digest ?? null, owner };
}

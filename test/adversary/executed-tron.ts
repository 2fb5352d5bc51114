import { createHash } from 'node:crypto';
import type { Executed, Owner } from './record-differences';

/** Of the node's answers, as far as they are read here. Bytes in hex. */
export interface TronTransaction {
  raw_data: { contract: { parameter: { value: { owner_address: string } } }[] };
  raw_data_hex: string;
}

/** A transaction of an account of the gateway, with the digest that it has signed: that of the bytes, whatever id the node shows. */
export function executedOnTron(transaction: TronTransaction, own: ReadonlyMap<string, Owner>): Executed[] {
  const [contract] = transaction.raw_data.contract;
  const owner = own.get(contract?.parameter.value.owner_address ?? '');
  if (owner === undefined) return [];
  const id = createHash('sha256').update(Buffer.from(transaction.raw_data_hex, 'hex')).digest('hex');
  return [{ subject: `transaction ${id} on tron`, digest: `0x${id}`, owner }];
}

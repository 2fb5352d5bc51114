import { readFields } from './codec/fields';

/** What a transaction of whoever does, as far as it concerns balances; null for every other kind. */
export interface ForeignTransaction {
  /** Canonical form. */
  owner: string;
  /** Of TRX; null: it calls a contract. */
  transfer: { to: string; amount: bigint } | null;
}

const transferType = 1n;
const callType = 31n;

/**
 * `raw`: bytes of raw_data, in any encoding that nodes take. What cannot be read is null: a block with it must not stop those who follow
 * the chain.
 */
export function readForeign(raw: Buffer): ForeignTransaction | null {
  try {
    return read(raw);
  } catch {
    return null;
  }
}

function read(raw: Buffer): ForeignTransaction | null {
  const contract = readFields(readFields(raw).bytes(11));
  const type = contract.number(1);
  if (type !== transferType && type !== callType) return null;
  const parameter = readFields(readFields(contract.bytes(2)).bytes(2));
  const owner = parameter.bytes(1).toString('hex');
  if (type === callType) return { owner, transfer: null };
  return { owner, transfer: { to: parameter.bytes(2).toString('hex'), amount: parameter.number(3) } };
}

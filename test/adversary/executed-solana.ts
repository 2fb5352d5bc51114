import { createHash } from 'node:crypto';
import { getAddressEncoder, getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit';
import type { Executed, Owner } from './record-differences';

/**
 * A transaction whose fee an account of the gateway has paid, with the digest that it has signed: that of its message, whatever its id.
 * `encoded`: base64. `own`: by the hex digits of the address.
 */
export function executedOnSolana(encoded: string, own: ReadonlyMap<string, Owner>): Executed[] {
  const { messageBytes } = getTransactionDecoder().decode(Buffer.from(encoded, 'base64'));
  const [payer] = getCompiledTransactionMessageDecoder().decode(messageBytes).staticAccounts;
  const owner = payer && own.get(Buffer.from(getAddressEncoder().encode(payer)).toString('hex'));
  if (owner === undefined) return [];
  const digest = createHash('sha256').update(Buffer.from(messageBytes)).digest('hex');
  return [{ subject: `message ${digest} on solana`, digest: `0x${digest}`, owner }];
}

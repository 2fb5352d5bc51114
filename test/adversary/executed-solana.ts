import { createHash } from 'node:crypto';
import { getAddressEncoder, getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit';
import type { Executed, Owner } from './record-differences';

/**
 * A transaction that accounts of the gateway have signed, whoever has paid its fee, with the digest that each has signed: that of its message, whatever
 * its id.
 * `encoded`: base64. `own`: by the hex digits of the address.
 */
export function executedOnSolana(encoded: string, own: ReadonlyMap<string, Owner>): Executed[] {
  const { messageBytes } = getTransactionDecoder().decode(Buffer.from(encoded, 'base64'));
  const { header, staticAccounts } = getCompiledTransactionMessageDecoder().decode(messageBytes);
  const digest = createHash('sha256').update(Buffer.from(messageBytes)).digest('hex');
  return staticAccounts.slice(0, header.numSignerAccounts).flatMap((signer) => {
    const owner = own.get(Buffer.from(getAddressEncoder().encode(signer)).toString('hex'));
    return owner === undefined ? [] : [{ subject: `message ${digest} on solana`, digest: `0x${digest}` as const, owner }];
  });
}

import { GatewayError } from '../../platform/errors';
import type { ChainDefinition } from '../types';
import type { Account } from './answers';
import { toBytes } from './codec/address';
import { toBase58 } from './codec/base58';
import { programs } from './codec/programs';

/** Layout of a token account (spl-token-interface, state.rs: Account). */
const ownerAt = { start: 32, end: 64 };

/**
 * Whether a wallet has its associated token account. Everybody can send lamports to where it is to be: it is made all the same, with these for
 * its rent. `account`: what the chain has there; `wallet`: Base58.
 * @throws GatewayError would_revert for one that the wallet has given away (SetAuthority of the Token program), which victims of thieves are made
 *   to sign: what is paid there is not for the wallet. The program that makes such accounts refuses it too (CreateIdempotent).
 */
export function hasTokenAccount({ name }: ChainDefinition, account: Account | null, wallet: string): boolean {
  if (!account || account.program === toBase58(programs.system)) return false;
  if (!account.data.subarray(ownerAt.start, ownerAt.end).equals(toBytes(wallet)))
    throw new GatewayError('would_revert', `The token account of ${wallet} on ${name} belongs to somebody else`);
  return true;
}

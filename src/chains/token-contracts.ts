import { refusedAddress } from './invalid-address';
import { tokenByContract } from './registry';
import type { ChainDefinition } from './types';

/**
 * Tokens that are sent to the contract of a token, their own or another, are lost: few contracts can give them back. `address`: in the form
 * shown to clients.
 * @throws GatewayError invalid_address that names the field.
 */
export function assertNoTokenContract(field: string, address: string, chain: ChainDefinition): void {
  const owner = tokenByContract(chain, address);
  if (owner) throw refusedAddress(field, `is the contract of ${owner.symbol}: tokens that are sent there are lost`);
}

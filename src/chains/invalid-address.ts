import { GatewayError } from '../platform/errors';
import type { FamilyCodec } from './family';
import type { ChainDefinition } from './types';

/** Why a text is no address of the chain: an error invalid_address that names the field, and the network whose address it is. */
export function invalidAddress(field: string, text: string, chain: ChainDefinition, family: FamilyCodec): GatewayError {
  const users = family.findForeignUsers?.(text) ?? null;
  const message =
    users === null
      ? `is not a valid address on ${chain.name}`
      : `is an address of ${users}, not of the network that ${chain.name} is here (${chain.network})`;
  return refusedAddress(field, message);
}

export const refusedAddress = (field: string, message: string): GatewayError =>
  new GatewayError('invalid_address', `${field} ${message}`, { fields: [{ field, message }] });

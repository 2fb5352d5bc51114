import { GatewayError } from '../platform/errors';
import type { FamilyCodec } from './family';
import type { ChainDefinition } from './types';

/**
 * Why a text is no address of the chain: an error invalid_address that names the field, and says whether it is an address of another network
 * or one with a wrong checksum, which is mistyped.
 */
export function invalidAddress(field: string, text: string, chain: ChainDefinition, family: FamilyCodec): GatewayError {
  return refusedAddress(field, explain(text, chain, family));
}

function explain(text: string, { name, network }: ChainDefinition, family: FamilyCodec): string {
  const users = family.findForeignUsers?.(text) ?? null;
  if (users !== null) return `is an address of ${users}, not of the network that ${name} is here (${network})`;
  const isMistyped = family.hasWrongChecksum?.(text) ?? false;
  return `is not a valid address on ${name}${isMistyped ? ': its checksum is wrong' : ''}`;
}

export const refusedAddress = (field: string, message: string): GatewayError =>
  new GatewayError('invalid_address', `${field} ${message}`, { fields: [{ field, message }] });

import { GatewayError } from '../../platform/errors';

/** @throws GatewayError intent_mismatch naming the field. */
export function assertMatches(condition: boolean, field: string, problem: string): asserts condition {
  if (!condition) throw mismatch(field, problem);
}

/** What a family makes of the bytes. @throws GatewayError intent_mismatch where it refuses them. */
export function decode<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw mismatch('unsigned', error instanceof Error ? error.message : 'the bytes do not decode');
  }
}

export const mismatch = (field: string, problem: string): GatewayError =>
  new GatewayError('intent_mismatch', `${field}: ${problem}`);
